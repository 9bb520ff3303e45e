package expr

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/fn"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// clocks are the functions that read the clock. The statement reads it once.
var clocks = map[string]types.Type{
	"GETDATE": types.DateTime, "GETUTCDATE": types.DateTime,
	"SYSDATETIME": types.DateTime2(7), "SYSUTCDATETIME": types.DateTime2(7),
	"SYSDATETIMEOFFSET": types.DateTimeOffset(7),
	"CURRENT_DATE":      types.Date,
}

// seeder is a session whose RAND() goes on from RAND(seed).
type seeder interface {
	SeedRand(seed int64)
}

// runtimeConstant compiles what has one value for each reference and execution
// of a statement, however many rows it looks at: the clock and RAND(). NEWID()
// is not one of them. False means that name is another function.
func (c *Compiler) runtimeConstant(name string, params []ast.ScalarExpression) (Expr, bool, error) {
	if t, ok := clocks[name]; ok {
		if len(params) > 0 {
			return Expr{}, true, sqlerr.ArgumentCount(name, 0)
		}
		utc := name == "GETUTCDATE" || name == "SYSUTCDATETIME"
		return Expr{Type: t, Nullable: true, Eval: clockOf(t, utc)}, true, nil
	}
	if name != "RAND" {
		return Expr{}, false, nil
	}
	switch len(params) {
	case 0:
		slot := c.Scope.m.NewOnce()
		return Expr{Type: types.Float, Nullable: true, Eval: func(f *Frame) (types.Value, error) {
			if v, ok := f.onceCached(slot); ok {
				return v, nil
			}
			v := types.NewFloat(f.Session.Rand())
			f.onceStore(slot, v, nil)
			return v, nil
		}}, true, nil
	case 1:
		seed, err := c.Scalar(params[0])
		if err == nil {
			seed, err = Cast(seed, types.Int, false)
		}
		if err != nil {
			return Expr{}, true, err
		}
		ev := seed.Eval
		return Expr{Type: types.Float, Nullable: true, Eval: func(f *Frame) (types.Value, error) {
			v, err := ev(f)
			if err != nil || v.IsNull() {
				return v, err
			}
			if s, ok := f.Session.(seeder); ok {
				s.SeedRand(v.Int())
			}
			return types.NewFloat(fn.SeededRand(v.Int())), nil
		}}, true, nil
	}
	return Expr{}, true, sqlerr.ArgumentRange("rand", 0, 1)
}

func clockOf(t types.Type, utc bool) evalFunc {
	return func(f *Frame) (types.Value, error) {
		now := f.NowTicks()
		if utc {
			now -= int64(f.NowOffset) * types.TicksPerMinute
		}
		return types.Temporal(t, now, f.NowOffset, "datetime2")
	}
}
