package fn

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash/fnv"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

var otherFunctions = []Func{
	{Name: "ISNUMERIC", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Int), Eval: evalIsNumeric},
	{Name: "NEWID", MinArgs: 0, MaxArgs: 0, Type: fixedType(types.UniqueIdentifier), Eval: evalNewID},
	{Name: "NEWSEQUENTIALID", MinArgs: 0, MaxArgs: 0, Type: fixedType(types.UniqueIdentifier), Eval: newSequentialID()},
	{Name: "CHECKSUM", MinArgs: 1, MaxArgs: -1, Deterministic: true, Type: fixedType(types.Int), Eval: checksum(false)},
	{Name: "BINARY_CHECKSUM", MinArgs: 1, MaxArgs: -1, Deterministic: true, Type: fixedType(types.Int), Eval: checksum(true)},
	{Name: "HASHBYTES", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: fixedType(types.VarBinary(8000)), Eval: strict(evalHashBytes)},
	{Name: "GREATEST", MinArgs: 1, MaxArgs: -1, Deterministic: true, Type: commonType, Eval: extreme(1)},
	{Name: "LEAST", MinArgs: 1, MaxArgs: -1, Deterministic: true, Type: commonType, Eval: extreme(-1)},
}

func evalIsNumeric(args []types.Value) (types.Value, error) {
	v := args[0]
	switch {
	case v.Kind().IsNumeric() && v.Kind() != types.KindBit:
		return count(1), nil
	case v.Kind() == types.KindBit:
		return count(1), nil
	case !v.Kind().IsString():
		return count(0), nil
	}
	s := strings.TrimSpace(v.Str())
	if s == "" {
		return count(0), nil
	}
	n := types.NewString(types.KindNVarChar, s)
	for _, t := range [...]types.Type{types.Money, types.Float} {
		if _, err := types.Convert(n, t, 0); err == nil {
			return count(1), nil
		}
	}
	return count(0), nil
}

// swapGUID turns a UUID's bytes into the order values have, and back.
func swapGUID(g [16]byte) [16]byte {
	g[0], g[1], g[2], g[3] = g[3], g[2], g[1], g[0]
	g[4], g[5] = g[5], g[4]
	g[6], g[7] = g[7], g[6]
	return g
}

func evalNewID([]types.Value) (types.Value, error) {
	u, err := uuid.NewRandom()
	if err != nil {
		return types.Value{}, err
	}
	return types.NewGUID(swapGUID(u)), nil
}

// newSequentialID makes the Eval of NEWSEQUENTIALID: each value is greater than
// the one before, within one run of the process.
func newSequentialID() func([]types.Value) (types.Value, error) {
	var n atomic.Uint64
	var node [6]byte
	if _, err := rand.Read(node[:]); err != nil {
		node = [6]byte{2}
	}
	node[0] |= 1
	return func([]types.Value) (types.Value, error) {
		c := n.Add(1)
		var g [16]byte
		copy(g[10:], node[:])
		g[8] = 0x80 | byte(c>>56)&0x3f
		g[9] = byte(c >> 48)
		g[6], g[7] = byte(c>>40), byte(c>>32)
		g[4], g[5] = byte(c>>24), byte(c>>16)
		// The least significant bytes vary within the first group.
		g[0], g[1] = byte(c>>8), byte(c)
		return types.NewGUID(g), nil
	}
}

// checksum mixes the hashes of its arguments. The numbers are not SQL Server's,
// whose algorithm is not published; equal values give equal numbers.
func checksum(binary bool) func([]types.Value) (types.Value, error) {
	return func(args []types.Value) (types.Value, error) {
		var sum uint32
		for _, a := range args {
			var h uint64
			if binary && a.Kind().IsString() {
				f := fnv.New64a()
				_, _ = f.Write([]byte(strings.TrimRight(a.Str(), " ")))
				h = f.Sum64()
			} else {
				h = types.Hash(a)
			}
			sum = bits.RotateLeft32(sum, 4) ^ uint32(h) ^ uint32(h>>32)
		}
		return types.NewInt(types.KindInt, int64(int32(sum))), nil
	}
}

func evalHashBytes(args []types.Value) (types.Value, error) {
	name, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	v := args[1]
	if !v.Kind().IsString() && !v.Kind().IsBinary() {
		return types.Value{}, sqlerr.ArgumentType(v.Kind().String(), 2, "hashbytes")
	}
	b, err := types.Convert(v, types.VarBinary(types.Max), 0)
	if err != nil {
		return types.Value{}, err
	}
	var sum []byte
	switch strings.ToUpper(strings.TrimSpace(name)) {
	case "MD5":
		h := md5.Sum(b.Bytes())
		sum = h[:]
	case "SHA", "SHA1":
		h := sha1.Sum(b.Bytes())
		sum = h[:]
	case "SHA2_256":
		h := sha256.Sum256(b.Bytes())
		sum = h[:]
	case "SHA2_512":
		h := sha512.Sum512(b.Bytes())
		sum = h[:]
	case "MD2", "MD4":
		return types.Value{}, sqlerr.Unsupported("HASHBYTES " + strings.ToUpper(name))
	default:
		return types.Value{}, nil
	}
	return types.NewBytes(types.KindVarBinary, sum), nil
}

func commonType(args []types.Type) (types.Type, error) {
	t := args[0]
	for _, a := range args[1:] {
		var err error
		if t, err = types.CommonType(t, a); err != nil {
			return t, err
		}
	}
	return t, nil
}

// extreme is GREATEST (1) and LEAST (-1); NULLs have no say.
func extreme(dir int) func([]types.Value) (types.Value, error) {
	return func(args []types.Value) (types.Value, error) {
		t := types.Null
		for _, a := range args {
			if a.IsNull() {
				continue
			}
			var err error
			if t, err = types.CommonType(t, valueType(a)); err != nil {
				return types.Value{}, err
			}
		}
		var best types.Value
		for _, a := range args {
			if a.IsNull() {
				continue
			}
			c, err := types.Convert(a, t, 0)
			if err != nil {
				return types.Value{}, err
			}
			if best.IsNull() || types.Compare(c, best)*dir > 0 {
				best = c
			}
		}
		return best, nil
	}
}

// valueType is a type wide enough for a value.
func valueType(v types.Value) types.Type {
	t := types.Type{Kind: v.Kind(), Scale: v.Scale()}
	switch k := v.Kind(); {
	case k == types.KindDecimal:
		t.Prec = uint8(max(len(strings.TrimLeft(v.Coefficient().String(), "-")), int(v.Scale())))
	case k.IsUnicode():
		t = types.NVarChar(types.Max)
	case k.IsString():
		t = types.VarChar(types.Max)
	case k.IsBinary():
		t = types.VarBinary(types.Max)
	}
	return t
}
