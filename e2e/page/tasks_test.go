package page_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// taskTrace is Chromium's own account of what the page's main thread did. Unlike frames, its tasks
// have a time of the processor, which other programs on busy cores do not make longer.
type taskTrace struct {
	*testing.T
	file string
}

// traceTasks begins an account. After the browser has ended it logs the longest tasks of each part.
func traceTasks(t *testing.T) *taskTrace {
	t.Helper()
	trace := &taskTrace{t, filepath.Join(t.TempDir(), "trace.json")}
	t.Cleanup(trace.tell)
	return trace
}

// options makes the browser keep the account.
func (t *taskTrace) options() []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{
		chromedp.Flag("trace-startup", "toplevel,blink.user_timing"),
		chromedp.Flag("trace-startup-duration", "0"), // until the browser ends
		chromedp.Flag("trace-startup-format", "json"),
		chromedp.Flag("trace-startup-file", t.file),
	}
}

// endsPart ends a part of the account.
func (t *taskTrace) endsPart(b *browser, part string) {
	b.Helper()
	b.run(fmt.Sprintf("performance.mark(%q)", partMark+part))
}

// partMark begins the name of a mark that ends a part.
const partMark = "part: "

type traceEvent struct {
	Name     string
	Ph       string
	Pid, Tid int
	TS, Tdur float64 // µs; Tdur is the processor's time
}

// tell logs the longest tasks of each part.
func (t *taskTrace) tell() {
	t.Helper()
	data, err := os.ReadFile(t.file)
	if err != nil {
		t.Errorf("the trace: %v", err)
		return
	}
	var trace struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(data, &trace); err != nil {
		t.Errorf("the trace: %v", err)
		return
	}
	events := trace.TraceEvents
	slices.SortFunc(events, func(a, b traceEvent) int { return cmp.Compare(a.TS, b.TS) })
	from := 0.0
	for _, mark := range events {
		part, isMark := strings.CutPrefix(mark.Name, partMark)
		if !isMark {
			continue
		}
		var tasks []time.Duration
		for _, task := range events {
			if isTask := task.Ph == "X" && (task.Name == "RunTask" || task.Name == "ThreadControllerImpl::RunTask"); isTask &&
				task.Pid == mark.Pid && task.Tid == mark.Tid && task.TS >= from && task.TS < mark.TS {
				tasks = append(tasks, time.Duration(task.Tdur)*time.Microsecond)
			}
		}
		from = mark.TS
		slices.SortFunc(tasks, func(a, b time.Duration) int { return cmp.Compare(b, a) })
		t.Logf("%s: the longest tasks take the processor %v", part, rounded(tasks[:min(6, len(tasks))]))
	}
}

func rounded(all []time.Duration) []time.Duration {
	for i := range all {
		all[i] = all[i].Round(100 * time.Microsecond)
	}
	return all
}

// slows makes the page's main thread slower by a factor, as a phone's is.
func (b *browser) slows(factor float64) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: factor})
		return err
	}))
}
