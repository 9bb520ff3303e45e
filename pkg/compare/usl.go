package compare

import (
	"math"

	"gostress/pkg/result"
)

// Scale is a point of a sweep.
type Scale struct {
	Connections int
	// Rate is the batches a second.
	Rate float64
}

// Fit fits the Universal Scalability Law to a sweep; it is nil when there are fewer than three
// numbers of connections with a rate. n over the rate is linear in the law's coefficients, so this
// is a linear least squares, of relative errors, in which none is negative.
func Fit(points []Scale) *result.USL {
	var used []Scale
	distinct := map[int]bool{}
	for _, p := range points {
		if p.Connections > 0 && p.Rate > 0 && !math.IsInf(p.Rate, 0) {
			used = append(used, p)
			distinct[p.Connections] = true
		}
	}
	if len(distinct) < 3 {
		return nil
	}
	// Coefficients a, b, c of y = n/rate = a + b(n-1) + c n(n-1); a = 1/lambda, b = sigma/lambda,
	// c = kappa/lambda. Every choice of which of b and c are zero is tried; the best that is not
	// negative stays.
	best, bestError := [3]float64{}, math.Inf(1)
	for _, free := range [][]int{{0}, {0, 1}, {0, 2}, {0, 1, 2}} {
		x, ok := solve(used, free)
		if !ok || x[0] <= 0 || x[1] < 0 || x[2] < 0 {
			continue
		}
		if e := relativeError(used, x); e < bestError {
			best, bestError = x, e
		}
	}
	if math.IsInf(bestError, 1) {
		return nil
	}
	u := &result.USL{Lambda: 1 / best[0], Sigma: best[1] / best[0], Kappa: best[2] / best[0]}
	if u.Kappa > 0 && u.Sigma < 1 {
		u.Peak = math.Sqrt((1 - u.Sigma) / u.Kappa)
	}
	u.R2 = explained(used, u)
	u.Knee = knee(used)
	return u
}

// Rate is the law's rate with n connections.
func Rate(u *result.USL, n float64) float64 {
	return u.Lambda * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1))
}

func terms(n int) [3]float64 {
	f := float64(n)
	return [3]float64{1, f - 1, f * (f - 1)}
}

// solve solves the normal equations for the free coefficients, the others being zero.
func solve(points []Scale, free []int) (x [3]float64, ok bool) {
	k := len(free)
	a := make([][]float64, k)
	for i := range a {
		a[i] = make([]float64, k+1)
	}
	for _, p := range points {
		y, t := float64(p.Connections)/p.Rate, terms(p.Connections)
		for i, fi := range free {
			for j, fj := range free {
				a[i][j] += t[fi] * t[fj] / (y * y)
			}
			a[i][k] += t[fi] / y
		}
	}
	for i := range k {
		pivot := i
		for r := i + 1; r < k; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[pivot][i]) {
				pivot = r
			}
		}
		a[i], a[pivot] = a[pivot], a[i]
		if math.Abs(a[i][i]) < 1e-300 {
			return x, false
		}
		for r := range k {
			if r == i {
				continue
			}
			f := a[r][i] / a[i][i]
			for c := i; c <= k; c++ {
				a[r][c] -= f * a[i][c]
			}
		}
	}
	for i, fi := range free {
		x[fi] = a[i][k] / a[i][i]
	}
	return x, true
}

func relativeError(points []Scale, x [3]float64) float64 {
	sum := 0.0
	for _, p := range points {
		y, t := float64(p.Connections)/p.Rate, terms(p.Connections)
		e := (x[0]*t[0] + x[1]*t[1] + x[2]*t[2] - y) / y
		sum += e * e
	}
	return sum
}

// explained is the share of the rates' variance that the law explains.
func explained(points []Scale, u *result.USL) float64 {
	mean := 0.0
	for _, p := range points {
		mean += p.Rate / float64(len(points))
	}
	off, all := 0.0, 0.0
	for _, p := range points {
		off += math.Pow(p.Rate-Rate(u, float64(p.Connections)), 2)
		all += math.Pow(p.Rate-mean, 2)
	}
	if all == 0 {
		return 0
	}
	return 1 - off/all
}

// knee is the number of connections swept with the highest power, which is the rate over the
// response time (L. Kleinrock, Power and deterministic rules of thumb, 1979); in a closed loop, by
// Little's law, the rate squared over n. It is zero when that is the last point: none was found.
func knee(points []Scale) int {
	best, at, last := 0.0, 0, 0
	for _, p := range points {
		if power := p.Rate * p.Rate / float64(p.Connections); power > best {
			best, at = power, p.Connections
		}
		last = max(last, p.Connections)
	}
	if at == last {
		return 0
	}
	return at
}
