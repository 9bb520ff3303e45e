package tdsclient

import (
	"context"
	"errors"
	"time"

	"gostress/internal/tds"
)

// A request's progress, in the low bits of Conn.state. The worker moves it from
// idle by begin to writing to reading and back. Whoever watches the context moves writing
// to wanted, which makes the worker send the attention behind its request, or
// sends it itself while the worker reads. Above stateBits is a generation, so that
// a watcher of an earlier context, running late, cannot cancel another's request.
const (
	stateIdle uint64 = iota
	stateWriting
	stateReading
	stateWanted // the request was cancelled while it was written
	stateSent   // the attention is sent, or being sent under Conn.mu
	stateBegin  // what is watched may change; only the worker touches it
	stateClosed

	stateBits = 3
	stateMask = 1<<stateBits - 1
)

var errCancelled = errors.New("cancelled")

// begin moves on from idle, watching ctx. False says that the connection is closed.
// What ends in stateBegin is not noticed: the caller looks at ctx afterwards.
func (c *Conn) begin(ctx context.Context) bool {
	s := c.state.Load()
	gen := s >> stateBits
	if s&stateMask != stateIdle || !c.state.CompareAndSwap(s, gen<<stateBits|stateBegin) {
		return false // who closed it ends the watching
	}
	s = gen<<stateBits | stateBegin
	if done := ctx.Done(); done != c.done {
		// In one step with the state below, or an earlier context that ends just now
		// would cancel this request.
		gen++
		c.unwatch()
		if done != nil {
			c.done = done
			c.stop = context.AfterFunc(ctx, func() { c.interrupt(gen) })
		}
	}
	if c.state.CompareAndSwap(s, gen<<stateBits|stateWriting) {
		return true
	}
	c.unwatch()
	return false
}

func (c *Conn) unwatch() {
	if c.stop != nil {
		c.stop()
	}
	c.stop, c.done = nil, nil
}

// move changes the state if it is from.
func (c *Conn) move(from, to uint64) bool {
	s := c.state.Load()
	return s&stateMask == from && c.state.CompareAndSwap(s, s&^stateMask|to)
}

// rest goes back to idle from a request that was not sent; false says that the
// connection is closed.
func (c *Conn) rest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.move(stateWriting, stateIdle) {
		return true
	}
	return c.raw.SetWriteDeadline(time.Time{}) == nil && c.move(stateWanted, stateIdle)
}

// close says that the connection is being closed from outside. True means that no
// request is under way.
func (c *Conn) close() bool {
	for {
		s := c.state.Load()
		if s&stateMask == stateClosed {
			return false
		}
		if c.state.CompareAndSwap(s, s&^stateMask|stateClosed) {
			return s&stateMask == stateIdle
		}
	}
}

// end says that the connection is of no use any more, and what the state was.
func (c *Conn) end() uint64 {
	for {
		s := c.state.Load()
		if s&stateMask == stateClosed || c.state.CompareAndSwap(s, s&^stateMask|stateClosed) {
			return s & stateMask
		}
	}
}

// interrupt runs on a goroutine of its own when the context of that generation ends.
func (c *Conn) interrupt(gen uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		s := c.state.Load()
		if s>>stateBits != gen {
			return
		}
		switch s & stateMask {
		case stateWriting:
			if c.state.CompareAndSwap(s, s&^stateMask|stateWanted) {
				// A server that does not even read must not hold the worker.
				_ = c.raw.SetWriteDeadline(time.Now().Add(c.grace))
				return
			}
		case stateReading:
			if c.state.CompareAndSwap(s, s&^stateMask|stateSent) {
				c.attention()
				return
			}
		default:
			return
		}
	}
}

// attention asks the server to stop. Its acknowledgement has c.grace to arrive.
func (c *Conn) attention() {
	_ = c.raw.SetDeadline(time.Now().Add(c.grace))
	packet := tds.Header{Type: tds.PacketAttention, Status: tds.StatusEOM, Length: tds.HeaderSize, ID: 1}.Append(make([]byte, 0, tds.HeaderSize))
	if _, err := c.nc.Write(packet); err != nil {
		_ = c.raw.Close() // so that the worker does not wait for nothing
	}
}

// sent moves on from writing; if the request was cancelled meanwhile, the
// attention follows it.
func (c *Conn) sent() error {
	if c.move(stateWriting, stateReading) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.move(stateWanted, stateSent) {
		return ErrClosed
	}
	c.attention()
	return nil
}

// finished ends a request whose answer was read. It says whether an attention was
// sent, whose acknowledgement is then still to come unless it was in the answer.
func (c *Conn) finished() (attention bool, err error) {
	if c.move(stateReading, stateIdle) {
		return false, nil
	}
	c.mu.Lock() // the attention is on its way
	defer c.mu.Unlock()
	if c.state.Load()&stateMask != stateSent {
		return false, ErrClosed
	}
	return true, nil
}

// attended reports whether an attention was sent for the request under way.
func (c *Conn) attended() bool { return c.state.Load()&stateMask == stateSent }

// acknowledged ends a request that was cancelled.
func (c *Conn) acknowledged() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.raw.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if !c.move(stateSent, stateIdle) {
		return ErrClosed
	}
	return errCancelled
}
