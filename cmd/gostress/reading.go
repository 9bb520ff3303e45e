package main

import "context"

// reading is what read gives, or the cause of the end of ctx if that comes first. It is for files,
// which no context ends: a named pipe that nobody writes to, a device without end, a network's disk
// that does not answer. What read goes on to do is left alone, so it must change nothing.
func reading[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type got struct {
		v   T
		err error
	}
	done := make(chan got, 1)
	go func() {
		v, err := read()
		done <- got{v, err}
	}()
	select {
	case g := <-done:
		return g.v, g.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
