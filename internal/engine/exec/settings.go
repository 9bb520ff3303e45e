package exec

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/storage"
)

// isoLevel is a session's transaction isolation level, numbered as
// sys.dm_exec_sessions shows it.
type isoLevel uint8

const (
	isoReadUncommitted isoLevel = iota + 1
	isoReadCommitted
	isoRepeatableRead
	isoSerializable
	isoSnapshot
)

// storage is the level at which the transaction reads. Read uncommitted reads
// committed rows: no reader waits here anyhow.
func (l isoLevel) storage() storage.Isolation {
	switch l {
	case isoRepeatableRead:
		return storage.RepeatableRead
	case isoSerializable:
		return storage.Serializable
	case isoSnapshot:
		return storage.Snapshot
	}
	return storage.ReadCommitted
}

func (l isoLevel) String() string {
	return [...]string{"", "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"}[l]
}

// settings are a session's SET options. A procedure that changes them gets a
// copy: its caller's come back when it ends.
type settings struct {
	noCount      bool
	xactAbort    bool
	implicitTran bool
	fmtOnly      bool
	noExec       bool
	parseOnly    bool

	ansiNulls           bool
	ansiPadding         bool
	ansiWarnings        bool
	ansiNullDfltOn      bool
	arithAbort          bool
	concatNull          bool
	quotedIdent         bool
	cursorCloseOnCommit bool

	rowCount         int64 // 0 = all rows
	textSize         int32
	lockTimeout      int32 // ms; -1 = forever
	deadlockPriority int8
	isolation        isoLevel
	identityInsert   *catalog.Table
	contextInfo      []byte
}

// defaultSettings are those of a new session: the engine keeps the ANSI rules
// whether the client asks for them or not, ARITHABORT is what drivers leave it.
func defaultSettings(o SessionOptions) settings {
	return settings{
		ansiNulls: true, ansiPadding: true, ansiWarnings: true, ansiNullDfltOn: true,
		concatNull: true, quotedIdent: true, arithAbort: false,
		textSize: 2147483647, lockTimeout: -1, isolation: isoReadCommitted,
	}
}

// planBits are the options that plans depend on.
func (s *settings) planBits() uint8 {
	var b uint8
	if s.quotedIdent {
		b |= 1
	}
	if s.ansiNulls {
		b |= 2
	}
	return b
}

// options is @@OPTIONS.
func (s *settings) options() int64 {
	var n int64
	for _, o := range []struct {
		on  bool
		bit int64
	}{
		{s.implicitTran, 2}, {s.cursorCloseOnCommit, 4}, {s.ansiWarnings, 8}, {s.ansiPadding, 16}, {s.ansiNulls, 32},
		{s.arithAbort, 64}, {s.quotedIdent, 256}, {s.noCount, 512}, {s.ansiNullDfltOn, 1024},
		{s.concatNull, 4096}, {s.xactAbort, 16384},
	} {
		if o.on {
			n |= o.bit
		}
	}
	return n
}
