package lan

import "sync"

// together does the same with all at once, and gives what comes of it in no
// certain order. Its error is one of theirs if none succeeded.
func together[T, R any](all []T, do func(T) ([]R, error)) ([]R, error) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex // guards following
		results []R
		failed  []error
	)
	for _, one := range all {
		running.Go(func() {
			got, err := do(one)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, got...)
			if err != nil {
				failed = append(failed, err)
			}
		})
	}
	running.Wait()
	if len(failed) > 0 && len(failed) == len(all) {
		return results, failed[0]
	}
	return results, nil
}
