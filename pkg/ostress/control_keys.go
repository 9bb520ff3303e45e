package ostress

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// sections are all sections and keys, bound to c's fields.
func (c *Control) sections() []controlSection {
	co, q, r := &c.Connection, &c.Query, &c.Replay
	return []controlSection{
		{ConnectionSection, []controlKey{
			{"LoginTimeoutSecs", span(&co.LoginTimeout, time.Second, 0), "seconds a login may take, 0 = none; -l goes before it"},
			{"QuotedIdentifier", onOff(&co.QuotedIdentifier), "SET QUOTED_IDENTIFIER of each session"},
			{"AutocommitMode", onOff(&co.AutocommitMode), "Off: SET IMPLICIT_TRANSACTIONS ON; a transaction left open is rolled back at the end"},
			{"DisconnectPct", percent(&co.DisconnectPct), "per cent of the iterations after which the connection is closed and opened again"},
			{"MaxThreadErrors", whole(&co.MaxThreadErrors, 0, math.MaxInt64), "a connection ends after so many failed batches, 0 = never"},
		}},
		{QuerySection, []controlKey{
			{"NoSQLBindCol", onOff(&q.NoSQLBindCol), "accepted, without effect: nothing is bound here"},
			{"NoResultDisplay", onOff(&q.NoResultDisplay), "as -q: rows are counted and thrown away"},
			{"PrepareExecute", onOff(&q.PrepareExecute), "batches are prepared once for each connection, then executed (sp_prepare, sp_execute)"},
			{"ExecuteAsync", onOff(&q.ExecuteAsync), "accepted, without effect: no connection waits for another one"},
			{"RollbackOnCancel", onOff(&q.RollbackOnCancel), "roll back what a cancelled batch left open"},
			{"QueryTimeoutSecs", span(&q.QueryTimeout, time.Second, 0), "seconds a batch may take, 0 = none; -t goes before it"},
			{"QueryDelay", span(&q.QueryDelay, time.Millisecond, 0), "milliseconds of pause before each batch but the first"},
			{"MaxRetries", count(&q.MaxRetries), "how often a batch that failed with an error such as 1205 is sent again; --retries goes before it"},
			{"BatchDisconnectPct", percent(&q.BatchDisconnectPct), "per cent of the batches whose connection is cut while they run"},
			{"CancelPct", percent(&q.CancelPct), "per cent of the batches that are cancelled while they run"},
			{"CancelDelay", span(&q.CancelDelay, time.Millisecond, 0), "milliseconds from a batch's start to its cancel, at most"},
			{"CancelDelayMin", span(&q.CancelDelayMin, time.Millisecond, 0), "milliseconds from a batch's start to its cancel, at least"},
			{"CursorType", cursor(&q.CursorType, cursorType), "a server cursor: ForwardOnly, FastForward, Static, Keyset or Dynamic; empty = none"},
			{"CursorConcurrency", cursor(&q.CursorConcurrency, cursorConcurrency), "ReadOnly, Lock, OptimisticVer or OptimisticVal; empty = ReadOnly"},
			{"RowFetchDelay", span(&q.RowFetchDelay, time.Millisecond, 0), "milliseconds of pause after each row, or each fetch of a cursor"},
		}},
		{ReplaySection, []controlKey{
			{"Sequencing Options", text(&r.Sequencing, globalSequence), "events start in the order they were recorded; other options are not supported"},
			{"DTC Timeout", span(&r.DTCTimeout, time.Second, 1), "not supported: distributed transactions are not replayed"},
			{"DTC Machine", text(&r.DTCMachine, local), "not supported, but for " + local},
			{"Playback Coordinator", text(&r.Coordinator, local), "not supported, but for " + local},
			{"StartSeqNum", whole(&r.StartSeqNum, 1, math.MaxInt64), "the first event to replay; empty = the first there is"},
			{"StopSeqNum", whole(&r.StopSeqNum, 1, math.MaxInt64), "the last event to replay; empty = the last there is"},
			{"TimeoutFactor", factor(&r.TimeoutFactor), "the recorded pauses are multiplied by it"},
		}},
	}
}

// WriteControl writes a control file with c's values and a comment for each key.
// What it writes, ReadControl reads back as c.
func WriteControl(w io.Writer, c Control) error {
	var sb strings.Builder
	sb.WriteString("; A control file: gostress -c<this file>. A key that is left out or empty has its\n; default, and a switch of the command line goes before it.\n")
	for _, s := range c.sections() {
		fmt.Fprintf(&sb, "\n[%s]\n", s.name)
		for _, k := range s.keys {
			fmt.Fprintf(&sb, "; %s\n%s=%s\n", k.about, k.name, k.value.text())
		}
	}
	_, err := io.WriteString(w, sb.String())
	return err
}
