//go:build !unix

package main

// hidePasswords does nothing where the command line cannot be overwritten.
func hidePasswords(_, _ []string) {}
