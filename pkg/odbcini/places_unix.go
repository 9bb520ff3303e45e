//go:build !windows

package odbcini

import "runtime"

// systemFiles are where unixODBC's packages keep the system's data sources.
func systemFiles() []string {
	files := []string{"/etc/odbc.ini", "/usr/local/etc/odbc.ini"}
	if runtime.GOOS == "darwin" {
		files = append(files, "/opt/homebrew/etc/odbc.ini", "/Library/ODBC/odbc.ini")
	}
	return files
}

// systemFreeTDS are where FreeTDS's packages keep its file.
func systemFreeTDS() []string {
	files := []string{"/etc/freetds/freetds.conf", "/etc/freetds.conf", "/usr/local/etc/freetds.conf"}
	if runtime.GOOS == "darwin" {
		files = append(files, "/opt/homebrew/etc/freetds.conf")
	}
	return files
}

func registryStores() []store { return nil }
