package driver

import (
	"context"
	"errors"

	"gostress/pkg/result"
)

func run(context.Context, Plan) (result.Load, error) {
	return result.Load{}, errors.New("driver: not there yet")
}
