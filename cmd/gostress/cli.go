package main

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// commands is the command line after ostress's spellings were rewritten.
type commands struct {
	Stress      stressCmd      `cmd:"" hidden:"" help:"An ostress run; what happens when no command is named."`
	Demo        demoCmd        `cmd:"" help:"Run the In-Memory OLTP order workload on the embedded engine, and check what it left."`
	Serve       serveCmd       `cmd:"" help:"Run the embedded engine as a server."`
	Workload    workloadCmd    `cmd:"" help:"List, show, install, reset, verify or remove a bundled workload."`
	Run         runCmd         `cmd:"" passthrough:"" help:"Run a scenario file: statements with weights, setup, load, parameters, thresholds."`
	Compare     compareCmd     `cmd:"" help:"Put JSON reports side by side, and say where the difference is more than chance."`
	ControlFile controlFileCmd `cmd:"" help:"Print a control file (-c) with every key, its default and what it does."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

type cli struct {
	commands commands
	parser   *kong.Kong
	helped   bool // --help was printed
}

// helpExit is how kong's exit after --help comes back as a value.
type helpExit struct{}

func newCLI(stdout, stderr io.Writer) (*cli, error) {
	c := &cli{}
	p, err := kong.New(&c.commands,
		kong.Name("gostress"),
		kong.Description("ostress for Linux, macOS and Windows. Without a command word it takes ostress's own command line: gostress -S. -E -dDB -n100 -r5000 -q -Q\"EXEC p\"."),
		kong.Writers(stdout, stderr),
		kong.UsageOnError(),
		kong.Exit(func(int) { panic(helpExit{}) }),
	)
	if err != nil {
		return nil, err
	}
	c.parser = p
	return c, nil
}

// parse lets --help end it: kong prints and exits from within.
func (c *cli) parse(args []string) (k *kong.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(helpExit); !ok {
				panic(p)
			}
			c.helped = true
		}
	}()
	return c.parser.Parse(args)
}

// takesValue tells the long names of an ostress run that take a value.
func (c *cli) takesValue(long string) bool {
	for _, n := range c.parser.Model.Children {
		if n.Name != "stress" {
			continue
		}
		for _, f := range n.Flags {
			if f.Name == long {
				return !f.IsBool()
			}
		}
	}
	return false
}

func isCommand(p *kong.Kong, word string) bool {
	if word == "--help" || word == "--version" {
		return false
	}
	for _, n := range p.Model.Children {
		if n.Name == word && !n.Hidden {
			return true
		}
	}
	return false
}

// plainDashes reads a printed dash at the beginning of an argument as a hyphen.
func plainDashes(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		for _, d := range []string{"\u2013", "\u2014"} {
			if rest, ok := strings.CutPrefix(a, d); ok {
				a = "-" + rest
			}
		}
		out[i] = a
	}
	return out
}
