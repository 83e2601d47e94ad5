package budget_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// mape is the mean of absolute relative errors, p95 what 19 of 20 stay below, bias the mean with its sign.
func mape(list []float64) float64 {
	sum := 0.0
	for _, e := range list {
		sum += math.Abs(e)
	}
	return sum / float64(len(list))
}

func p95(list []float64) float64 {
	sorted := make([]float64, len(list))
	for i, e := range list {
		sorted[i] = math.Abs(e)
	}
	slices.Sort(sorted)
	return sorted[(len(sorted)*95-1)/100]
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, e := range list {
		sum += e
	}
	return sum / float64(len(list))
}

func errorsOf(list []float64) string {
	return fmt.Sprintf("MAPE %5.1f %%  P95 %5.1f %%  bias %+5.1f %%", 100*mape(list), 100*p95(list), 100*mean(list))
}
