package result

// Observer is what a connection beside the load saw of the server, and what looking took.
type Observer struct {
	// Samples counts the times the server was asked, FailedSamples those without an answer, and
	// LateSamples those that took longer than the interval between them.
	Samples       int64 `json:"samples"`
	FailedSamples int64 `json:"failed_samples"`
	LateSamples   int64 `json:"late_samples"`
	// IntervalS is the time between samples.
	IntervalS float64 `json:"interval_s"`
	// MeanUS and MaxUS are how long a sample took, from the request to the whole answer.
	MeanUS float64 `json:"mean_us"`
	MaxUS  float64 `json:"max_us"`
	// Share is the time that samples took over the interval, 0 to 1: the most that looking can
	// have cost the server.
	Share float64 `json:"share"`
	// Conditions are by the names that --abort-on knows them by.
	Conditions map[string]Observed `json:"conditions,omitempty"`
}

// Observed is a condition of the server over a run.
type Observed struct {
	Last float64 `json:"last"`
	Max  float64 `json:"max"`
}
