package main

import (
	"context"
	"errors"
	"testing"
)

func TestReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	odd := errors.New("odd")
	if v, err := reading(ctx, func() (int, error) { return 7, odd }); v != 7 || err != odd {
		t.Errorf("got %d, %v", v, err)
	}
	never := make(chan struct{})
	defer close(never)
	v, err := reading(ctx, func() (int, error) {
		cancel(errInterrupted)
		<-never
		return 7, nil
	})
	if v != 0 || err != errInterrupted {
		t.Errorf("interrupted: got %d, %v", v, err)
	}
}
