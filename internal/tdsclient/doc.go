// Package tdsclient sends requests over a connection that go-mssqldb logged in,
// and reads their answers. It keeps to what a load generator needs: one request
// at a time, rows counted without their values, no goroutine, timer or
// allocation per call, and no more system calls than a bare socket takes.
//
// A [Login] stands between go-mssqldb and the socket while go-mssqldb logs in,
// ends TLS itself, and then gives up the connection as a [Conn]. A [Request] is
// bytes already; [Conn.Do] sends it. Whatever is unexpected in an answer closes
// the connection: a wrong count is worse than none.
package tdsclient
