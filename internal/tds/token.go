package tds

import "encoding/binary"

// TokenID is the first byte of a token in a response.
type TokenID byte

// The tokens.
const (
	TokenAltMetadata   TokenID = 0x88
	TokenColMetadata   TokenID = 0x81
	TokenColInfo       TokenID = 0xA5
	TokenDone          TokenID = 0xFD
	TokenDoneInProc    TokenID = 0xFF
	TokenDoneProc      TokenID = 0xFE
	TokenEnvChange     TokenID = 0xE3
	TokenError         TokenID = 0xAA
	TokenFeatureExtAck TokenID = 0xAE
	TokenFedAuthInfo   TokenID = 0xEE
	TokenInfo          TokenID = 0xAB
	TokenLoginAck      TokenID = 0xAD
	TokenNBCRow        TokenID = 0xD2
	TokenOrder         TokenID = 0xA9
	TokenReturnStatus  TokenID = 0x79
	TokenReturnValue   TokenID = 0xAC
	TokenRow           TokenID = 0xD1
	TokenSessionState  TokenID = 0xE4
	TokenSSPI          TokenID = 0xED
	TokenTabName       TokenID = 0xA4
)

// Bits of a DONE's status.
const (
	DoneMore     uint16 = 0x01
	DoneError    uint16 = 0x02
	DoneInXact   uint16 = 0x04
	DoneCount    uint16 = 0x10
	DoneAttn     uint16 = 0x20
	DoneSrvError uint16 = 0x100
)

// Done is a DONE, DONEINPROC or DONEPROC token.
type Done struct {
	Token  TokenID
	Status uint16
	Cmd    uint16
	Count  uint64 // valid with DoneCount
}

// AppendDone appends d.
func AppendDone(b []byte, v Version, d Done) []byte {
	b = append(b, byte(d.Token), byte(d.Status), byte(d.Status>>8), byte(d.Cmd), byte(d.Cmd>>8))
	if v.Has72() {
		return binary.LittleEndian.AppendUint64(b, d.Count)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(d.Count))
}

// ServerMessage is an ERROR or INFO token.
type ServerMessage struct {
	Token  TokenID // TokenError or TokenInfo
	Number int32
	State  uint8
	Class  uint8
	Text   string
	Server string
	Proc   string
	Line   int32
}

// AppendMessage appends m. A text of more than 2,047 characters is cut there, as
// SQL Server's messages are.
func AppendMessage(b []byte, v Version, m *ServerMessage) []byte {
	b = append(b, byte(m.Token), 0, 0)
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Number))
	b = append(b, m.State, m.Class)
	b = appendUSVarChar(b, m.Text, 2047)
	b = appendBVarChar(b, m.Server)
	b = appendBVarChar(b, m.Proc)
	if v.Has72() {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.Line))
	} else {
		b = binary.LittleEndian.AppendUint16(b, uint16(m.Line))
	}
	binary.LittleEndian.PutUint16(b[at-2:], uint16(len(b)-at))
	return b
}

// EnvType is the kind of an ENVCHANGE.
type EnvType byte

// The kinds of ENVCHANGE.
const (
	EnvDatabase     EnvType = 1
	EnvLanguage     EnvType = 2
	EnvCharset      EnvType = 3
	EnvPacketSize   EnvType = 4
	EnvCollation    EnvType = 7
	EnvBeginTran    EnvType = 8
	EnvCommitTran   EnvType = 9
	EnvRollbackTran EnvType = 10
	EnvEnlistDTC    EnvType = 11
	EnvMirror       EnvType = 13
	EnvResetAck     EnvType = 18
	EnvRouting      EnvType = 20
)

func (e EnvType) binary() bool {
	switch e {
	case EnvCollation, EnvBeginTran, EnvCommitTran, EnvRollbackTran, EnvEnlistDTC, 12, 15, 16, EnvResetAck, 17:
		return true
	}
	return false
}

// EnvChange is an ENVCHANGE token; which fields count depends on the kind.
type EnvChange struct {
	Type     EnvType
	New, Old string // kinds 1 to 4, 13 and the like
	NewBytes []byte // kinds 7 to 12, 15 to 18, 20
	OldBytes []byte
}

// AppendEnvChange appends e.
func AppendEnvChange(b []byte, e *EnvChange) []byte {
	b = append(b, byte(TokenEnvChange), 0, 0, byte(e.Type))
	at := len(b) - 1
	switch {
	case e.Type == EnvRouting:
		b = binary.LittleEndian.AppendUint16(b, uint16(len(e.NewBytes)))
		b = append(b, e.NewBytes...)
		b = append(b, 0, 0)
	case e.Type.binary():
		b = append(append(b, byte(len(e.NewBytes))), e.NewBytes...)
		b = append(append(b, byte(len(e.OldBytes))), e.OldBytes...)
	default:
		b = appendBVarChar(appendBVarChar(b, e.New), e.Old)
	}
	binary.LittleEndian.PutUint16(b[at-2:], uint16(len(b)-at))
	return b
}

// LoginAck is a LOGINACK token.
type LoginAck struct {
	Interface byte // 1 = T-SQL
	Version   Version
	Program   string
	Major     byte
	Minor     byte
	Build     uint16
}

// AppendLoginAck appends a.
func AppendLoginAck(b []byte, a *LoginAck) []byte {
	b = append(b, byte(TokenLoginAck), 0, 0)
	at := len(b)
	b = append(b, a.Interface)
	b = binary.BigEndian.AppendUint32(b, uint32(a.Version))
	b = appendBVarChar(b, a.Program)
	b = append(b, a.Major, a.Minor, byte(a.Build>>8), byte(a.Build))
	binary.LittleEndian.PutUint16(b[at-2:], uint16(len(b)-at))
	return b
}

// AppendFeatureExtAck appends a FEATUREEXTACK token.
func AppendFeatureExtAck(b []byte, fs []Feature) []byte {
	return appendFeatures(append(b, byte(TokenFeatureExtAck)), fs)
}

// AppendSSPI appends an SSPI token: data of the server's side of a handshake.
func AppendSSPI(b, data []byte) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, byte(TokenSSPI)), uint16(len(data)))
	return append(b, data...)
}

// AppendReturnStatus appends a RETURNSTATUS token.
func AppendReturnStatus(b []byte, v int32) []byte {
	return binary.LittleEndian.AppendUint32(append(b, byte(TokenReturnStatus)), uint32(v))
}

// Flags of a column.
const (
	ColNullable uint16 = 0x01
	ColUpdate   uint16 = 0x08 // updatability unknown is 0x08
	ColIdentity uint16 = 0x10
	ColHidden   uint16 = 0x2000
)

// Column describes a column of a result set, or of a table type.
type Column struct {
	Name     string
	UserType uint32
	Flags    uint16
	Type     TypeInfo
}

func appendUserType(b []byte, v Version, n uint32) []byte {
	if v.Has72() {
		return binary.LittleEndian.AppendUint32(b, n)
	}
	return binary.LittleEndian.AppendUint16(b, uint16(n))
}

// AppendColMetadata appends a COLMETADATA token; no columns means "none".
func AppendColMetadata(b []byte, v Version, cols []Column) []byte {
	b = append(b, byte(TokenColMetadata))
	if len(cols) == 0 {
		return append(b, 0xFF, 0xFF)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(cols)))
	for i := range cols {
		c := &cols[i]
		b = appendUserType(b, v, c.UserType)
		b = binary.LittleEndian.AppendUint16(b, c.Flags)
		b = AppendTypeInfo(b, &c.Type)
		if c.Type.lengthKind() == lenLong { // the table's name: not told
			if v.Has72() {
				b = append(b, 1)
			}
			b = append(b, 0, 0)
		}
		b = appendBVarChar(b, c.Name)
	}
	return b
}

// AppendColInfo appends the COLINFO token that goes with the rows of a server
// cursor: every column counts as an expression, and those with ColHidden are not
// the query's own.
func AppendColInfo(b []byte, cols []Column) []byte {
	b = append(b, byte(TokenColInfo))
	b = binary.LittleEndian.AppendUint16(b, uint16(3*len(cols)))
	for i := range cols {
		status := byte(0x04)
		if cols[i].Flags&ColHidden != 0 {
			status |= 0x10
		}
		b = append(b, byte(i+1), 0, status)
	}
	return b
}

// ReturnValue is a RETURNVALUE token without its value.
type ReturnValue struct {
	Ordinal  uint16
	Name     string
	Status   byte // 1 = output parameter, 2 = result of a function
	UserType uint32
	Flags    uint16
	Type     TypeInfo
	Value    Raw // when it was read
}

// AppendReturnValue appends a RETURNVALUE token up to the value, which the
// caller appends next, as in a row.
func AppendReturnValue(b []byte, v Version, r *ReturnValue) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, byte(TokenReturnValue)), r.Ordinal)
	b = appendBVarChar(b, r.Name)
	b = append(b, r.Status)
	b = appendUserType(b, v, r.UserType)
	b = binary.LittleEndian.AppendUint16(b, r.Flags)
	return AppendTypeInfo(b, &r.Type)
}
