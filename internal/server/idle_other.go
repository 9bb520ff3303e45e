//go:build !unix

package server

// readRaw is not possible here: an idle connection keeps its buffer.
func (c *conn) readRaw() {}

func isResourceError(error) bool { return false }
