package page_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestWithoutCode checks that a visitor to a private host who has no code or a wrong one is asked
// for the code, and gets in by it. Without JavaScript, the page says what to type.
func TestWithoutCode(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	base, key, _ := strings.Cut(n.link(), "#")
	code, _, _ := strings.Cut(key, "_")
	b := n.browse(base, phone)
	b.sees("#front", "Its code, or the whole link")
	if !eval[bool](b, "document.querySelector('#banner').hidden") {
		t.Error("the bare address is told of a trouble")
	}
	b.tabsTo("#code", "NOSUCH"+kb.Enter)
	b.sees("#banner", "No room has the code")
	b.sees("#front", "Its code, or the whole link")
	b.shoot("nocode", phone)
	b.tabsTo("#code", strings.ToLower(code[:4])+"-"+code[4:]+kb.Enter)
	b.sees("#stage", "Waiting for the first player")

	b = browse(t, "about:blank", phone)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(n.link()))
	b.sees(".banner", "muster join ADDRESS")
	b.shoot("noscript", phone)
}
