package main

import "gostress/pkg/ostress"

// controlFileCmd prints a control file with every key and its default.
type controlFileCmd struct{}

func (controlFileCmd) Run(a *app) error {
	return ostress.WriteControl(a.stdout, ostress.DefaultControl())
}
