package target

import (
	"context"
	"sync"
	"time"

	"gostress/pkg/driver"
)

// pause is a sink that lets time pass behind each row, in which nothing is read,
// so that the server waits for the network once the buffers between are full.
type pause struct {
	length time.Duration
	timer  *time.Timer
	closed chan struct{}
	once   sync.Once

	to  driver.Sink // may be nil
	ctx context.Context
}

func newPause(d time.Duration) *pause {
	t := time.NewTimer(d)
	t.Stop()
	return &pause{length: d, timer: t, closed: make(chan struct{})}
}

// behind makes p the sink of a request.
func (p *pause) behind(ctx context.Context, to driver.Sink) driver.Sink {
	p.to, p.ctx = to, ctx
	return p
}

// end ends a pause under way and all that would follow.
func (p *pause) end() { p.once.Do(func() { close(p.closed) }) }

// Row implements driver.Sink.
func (p *pause) Row(values []any) error {
	if p.to != nil {
		if err := p.to.Row(values); err != nil {
			return err
		}
	}
	if p.ctx.Err() != nil {
		return nil // what is left of the answer is only passed over
	}
	p.timer.Reset(p.length)
	select {
	case <-p.timer.C:
	case <-p.ctx.Done():
	case <-p.closed:
	}
	p.timer.Stop()
	return nil
}

// Event implements driver.Sink.
func (p *pause) Event(e driver.SinkEvent) error {
	if p.to == nil {
		return nil
	}
	return p.to.Event(e)
}
