package main

import (
	"gostress/pkg/compare"
	"gostress/pkg/ostress"
)

// compareCmd puts JSON reports side by side.
type compareCmd struct {
	Files []string `arg:"" name:"file" help:"JSON reports: of --json, with or without --repeat, or of a sweep."`
}

func (c *compareCmd) Run(a *app) error {
	var inputs []compare.Input
	for _, f := range c.Files {
		in, err := compare.Read(f)
		if err != nil {
			return err
		}
		inputs = append(inputs, in...)
	}
	if len(inputs) < 2 {
		return &ostress.ArgError{Text: "compare needs two reports or more, or one of a sweep"}
	}
	return compare.Compare(inputs).Text(a.stdout)
}
