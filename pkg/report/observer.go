package report

import (
	"maps"
	"slices"
	"strings"

	"gostress/pkg/result"
)

// observer tells what was seen of the server, and what looking took.
func observer(b *strings.Builder, o *result.Observer) {
	if o == nil {
		return
	}
	extra := list(note{o.FailedSamples, "failed"}, note{o.LateSamples, "late"})
	line(b, "Observer", "%s samples of the server%s, %s each, %.2g %% of the time", count(o.Samples), extra, amount(o.MeanUS, "us"), o.Share*100)
	for _, name := range slices.Sorted(maps.Keys(o.Conditions)) {
		c := o.Conditions[name]
		line(b, "", "%s: %s at the end, %s at most", name, amount(c.Last, ""), amount(c.Max, ""))
	}
}
