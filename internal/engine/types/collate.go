package types

import (
	"strings"

	"gostress/internal/engine/sqlerr"
)

// Collation is how character values compare. The zero Collation is the
// engine's default, Latin1_General_CI_AS under any of its usual names.
type Collation uint8

const (
	CollDefault Collation = iota // case does not matter, accents do
	CollCS                       // Latin1_General_CS_AS: case matters
	CollBIN2                     // by code point
)

var collations = map[string]Collation{
	"database_default": CollDefault, "catalog_default": CollDefault,
	"latin1_general_ci_as": CollDefault, "latin1_general_100_ci_as": CollDefault,
	"latin1_general_100_ci_as_sc": CollDefault, "latin1_general_100_ci_as_ks_ws": CollDefault,
	"latin1_general_ci_as_ks_ws": CollDefault, "latin1_general_100_ci_as_sc_utf8": CollDefault,
	"sql_latin1_general_cp1_ci_as": CollDefault,
	"latin1_general_cs_as":         CollCS, "latin1_general_100_cs_as": CollCS, "latin1_general_100_cs_as_sc": CollCS,
	"sql_latin1_general_cp1_cs_as": CollCS, "latin1_general_cs_as_ks_ws": CollCS,
	"latin1_general_bin2": CollBIN2, "latin1_general_100_bin2": CollBIN2,
	"latin1_general_bin": CollBIN2, "sql_latin1_general_cp850_bin2": CollBIN2,
}

// CollationByName finds a collation: 448 when SQL Server would not know the
// name either, 40514 when only this engine does not.
func CollationByName(name string) (Collation, error) {
	key := strings.ToLower(name)
	if c, ok := collations[key]; ok {
		return c, nil
	}
	for _, mark := range []string{"_ci_", "_cs_", "_bin"} {
		if strings.Contains(key, mark) {
			return CollDefault, sqlerr.Unsupported("COLLATE " + name)
		}
	}
	return CollDefault, sqlerr.UnknownCollation(name)
}

// String is the name of the collation as the catalog shows it.
func (c Collation) String() string {
	switch c {
	case CollCS:
		return "SQL_Latin1_General_CP1_CS_AS"
	case CollBIN2:
		return "Latin1_General_BIN2"
	}
	return "SQL_Latin1_General_CP1_CI_AS"
}
