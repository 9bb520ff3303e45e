package odbcini

import (
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/windows/registry"

	"gostress/pkg/ini"
)

func systemFiles() []string   { return []string{} }
func systemFreeTDS() []string { return []string{} }

// registryStores are the user's data sources, and the system's of both widths.
func registryStores() []store {
	const path = `Software\ODBC\ODBC.INI`
	return []store{
		registryStore{registry.CURRENT_USER, path, 0, `HKEY_CURRENT_USER\` + path},
		registryStore{registry.LOCAL_MACHINE, path, registry.WOW64_64KEY, `HKEY_LOCAL_MACHINE\` + path},
		registryStore{registry.LOCAL_MACHINE, path, registry.WOW64_32KEY, `HKEY_LOCAL_MACHINE\` + path + " (32-bit)"},
	}
}

// registryStore holds a data source in a key each, its entries in the values.
type registryStore struct {
	root  registry.Key
	path  string
	width uint32
	name  string
}

func (r registryStore) place() string { return r.name }

func (r registryStore) read() (ini.File, []ini.Fault, error) {
	key, err := registry.OpenKey(r.root, r.path, registry.ENUMERATE_SUB_KEYS|r.width)
	if errors.Is(err, registry.ErrNotExist) {
		return ini.File{}, nil, fs.ErrNotExist
	}
	if err != nil {
		return ini.File{}, nil, err
	}
	defer key.Close()
	names, err := key.ReadSubKeyNames(-1)
	if err != nil {
		return ini.File{}, nil, err
	}
	var f ini.File
	for _, name := range names {
		s, err := r.section(name)
		if err != nil {
			return ini.File{}, nil, err
		}
		f.Sections = append(f.Sections, s)
	}
	return f, nil, nil
}

func (r registryStore) section(name string) (ini.Section, error) {
	s := ini.Section{Name: name}
	key, err := registry.OpenKey(r.root, r.path+`\`+name, registry.QUERY_VALUE|r.width)
	if err != nil {
		return s, err
	}
	defer key.Close()
	values, err := key.ReadValueNames(-1)
	if err != nil {
		return s, err
	}
	for _, v := range values {
		text, _, err := key.GetStringValue(v)
		if errors.Is(err, registry.ErrUnexpectedType) {
			var n uint64
			if n, _, err = key.GetIntegerValue(v); err == nil {
				text = strconv.FormatUint(n, 10)
			}
		}
		if err != nil {
			continue // of a type that no data source's own value has
		}
		s.Entries = append(s.Entries, ini.Entry{Key: v, Value: text})
	}
	return s, nil
}
