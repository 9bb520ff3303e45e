package exec

import (
	"strings"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// prepared is the statement of a handle of sp_prepare.
type prepared struct {
	text, params string
}

// executeSQL is sp_executesql text, params, values ...
func (s *Session) executeSQL(a *sysArgs) (int32, []outValue, error) {
	text, ok, err := a.text(0, "statement", "stmt")
	if err != nil {
		return 0, nil, err
	}
	if len(a.params) == 0 {
		return 0, nil, sqlerr.New(201, 16, 10, "Procedure or function '%s' expects parameter '%s', which was not supplied.", "sp_executesql", "@statement")
	}
	if !ok {
		return 0, nil, nil
	}
	params, _, err := a.text(1, "params", "parameters")
	if err != nil {
		return 0, nil, err
	}
	rest := 2
	if len(a.params) < 2 {
		rest = len(a.params)
	}
	outs, err := s.runText(text, params, a.params[rest:], rest)
	return 0, outs, err
}

// runText runs dynamic SQL with parameters.
func (s *Session) runText(text, params string, args []Param, base int) ([]outValue, error) {
	p, err := s.text(text, strings.TrimSpace(params), kindDynamic)
	if err != nil {
		return nil, s.outOfScope(s.top(), err)
	}
	return s.callProgram(p, args, base)
}

// prepare is sp_prepare handle OUTPUT, params, text: it compiles the text, so
// that its errors are told now.
func (s *Session) prepare(params, text string) (int32, error) {
	if _, err := s.text(text, strings.TrimSpace(params), kindDynamic); err != nil {
		return 0, s.outOfScope(s.top(), err)
	}
	if s.prepared == nil {
		s.prepared = map[int32]*prepared{}
	}
	s.nextHandle++
	s.prepared[s.nextHandle] = &prepared{text: text, params: params}
	return s.nextHandle, nil
}

func (s *Session) preparedOf(h int32) (*prepared, error) {
	p := s.prepared[h]
	if p == nil {
		return nil, sqlerr.New(8179, 16, 4, "There is no prepared statement with handle %d.", h)
	}
	return p, nil
}

func handleValue(h int32) types.Value { return types.NewInt(types.KindInt, int64(h)) }

// spPrepare is sp_prepare.
func (s *Session) spPrepare(a *sysArgs) (int32, []outValue, error) {
	params, _, err := a.text(1, "params", "parameters")
	if err != nil {
		return 0, nil, err
	}
	text, _, err := a.text(2, "stmt", "statement")
	if err != nil {
		return 0, nil, err
	}
	h, err := s.prepare(params, text)
	if err != nil {
		return 0, nil, err
	}
	return 0, []outValue{{at: 0, name: a.nameOf(0), typ: types.Int, value: handleValue(h)}}, nil
}

// spExecute is sp_execute handle, values ...
func (s *Session) spExecute(a *sysArgs) (int32, []outValue, error) {
	h, _, err := a.integer(0, "handle")
	if err != nil {
		return 0, nil, err
	}
	p, err := s.preparedOf(int32(h))
	if err != nil {
		return 0, nil, err
	}
	outs, err := s.runText(p.text, p.params, a.params[1:], 1)
	return 0, outs, err
}

// spPrepExec is sp_prepexec handle OUTPUT, params, text, values ...
func (s *Session) spPrepExec(a *sysArgs) (int32, []outValue, error) {
	_, outs, err := s.spPrepare(a)
	if err != nil {
		return 0, nil, err
	}
	p := s.prepared[s.nextHandle]
	more, err := s.runText(p.text, p.params, a.params[min(3, len(a.params)):], 3)
	return 0, append(outs, more...), err
}

// spUnprepare is sp_unprepare handle.
func (s *Session) spUnprepare(a *sysArgs) (int32, []outValue, error) {
	h, _, err := a.integer(0, "handle")
	if err != nil {
		return 0, nil, err
	}
	if _, err := s.preparedOf(int32(h)); err != nil {
		return 0, nil, err
	}
	delete(s.prepared, int32(h))
	return 0, nil, nil
}

// spPrepExecRPC is sp_prepexecrpc handle OUTPUT, 'EXEC proc ...', values ...
func (s *Session) spPrepExecRPC(a *sysArgs) (int32, []outValue, error) {
	return 0, nil, sqlerr.Unsupported("sp_prepexecrpc")
}
