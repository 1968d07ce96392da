package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/term"
	"muster/selection/law"
)

func newLaws(p *program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "laws [NAME|FILE]",
		Short:   "Leagues' laws on pings, for matches of two sides",
		Long: `Laws lists the leagues' ping laws that come with Muster, with their sources. With
a name it says a law in full, in our words. A law of your own is a file: change a
copy of one. Muster says what is wrong in it, with the line.`,
		Example: `  muster laws
  muster laws getquad
  muster laws getquad --json >our.json
  muster laws our.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.showLaws(strings.Join(args, ""), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list, or a law's file, as JSON")
	return cmd
}

// showLaws shows the law of a name or of a file, or lists the known ones.
func (p *program) showLaws(name string, asJSON bool) error {
	out := json.NewEncoder(p.out)
	out.SetEscapeHTML(false)
	if name == "" && asJSON {
		return out.Encode(struct {
			Format string     `json:"format"`
			Laws   []*law.Law `json:"laws"`
		}{"muster.laws/1", law.All()})
	}
	if name != "" {
		one, err := p.law(name)
		switch {
		case err != nil:
			return err
		case asJSON:
			out.SetIndent("", "  ")
			return out.Encode(one)
		}
		for _, line := range inFull(one) {
			fmt.Fprintln(p.out, p.out.Wrap(line, 0))
		}
		return nil
	}
	table := term.Table{
		Columns: []term.Column{term.Whole("NAME"), term.Left("LEAGUE"), term.Left("LIMIT"), term.Left("OF"), term.Left("SOURCE")},
		Spare:   []string{"SOURCE", "OF"},
	}
	for _, known := range law.All() {
		limit := "none, an order alone"
		if len(known.Rules) > 0 {
			limit = limitOf(known.Rules[0])
		}
		table.Add(known.Name, known.League, limit, known.Source.Date, known.Source.URL)
	}
	table.Write(p.out)
	return nil
}

// law returns the law of a name, of a file, or of a document itself.
func (p *program) law(name string) (*law.Law, error) {
	if known := law.Known(name); known != nil {
		return known, nil
	} else if strings.HasPrefix(name, "{") { // from a launcher
		return law.Read([]byte(name))
	}
	file, err := input.Open(name, p.in)
	if err != nil {
		return nil, hint.With(usagef("%s is neither a law that Muster knows nor a file", discovery.CleanText(name)), "muster laws lists them")
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, law.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", input.Name(name), err)
	}
	own, err := law.Read(text)
	if err != nil {
		err = hint.With(fmt.Errorf("%s is no law:\n%w", input.Name(name), err), "muster laws ceiling --json prints one that is")
	}
	return own, err
}

// statistics are the words for statistics.
var statistics = map[law.Statistic]string{
	law.Means: "difference between the sides' averages", law.Lows: "difference between the sides' lowest pings",
	law.ClippedLows: "change of the difference between the sides' lowest pings", law.Worst: "highest ping", law.Mean: "average of all",
}

func limitOf(r law.Rule) string {
	words := "%s of at most %v ms"
	if r.Below > 0 {
		words = "%s of less than %v ms"
	}
	return fmt.Sprintf(words, statistics[r.Of], discovery.MS(time.Duration(r.Max+r.Below)))
}

// inFull says a law: its own sentences in quotation marks, and how Muster carries them out.
func inFull(l *law.Law) []string {
	lines := []string{fmt.Sprintf("%s (%s): %s, %s", l.League, l.Name, l.Source.URL, l.Source.Date)}
	for _, r := range l.Rules {
		lines = append(lines, fmt.Sprintf("“%s” Muster keeps servers with a %s.", r.Says, limitOf(r)))
	}
	var steps []string
	for _, step := range l.Order.By {
		steps = append(steps, "the least "+statistics[step.Least])
		if step.Tie > 0 {
			steps[len(steps)-1] += fmt.Sprintf(" (%v ms more is as good)", discovery.MS(time.Duration(step.Tie)))
		}
	}
	lines = append(lines, fmt.Sprintf("“%s” If none is left, Muster takes the server with %s.", l.Order.Says, strings.Join(steps, ", then ")))
	for _, says := range append([]string{l.Minping.Says, l.Objection.Says, l.Disagreement.Says}, l.Also...) {
		if says != "" {
			lines = append(lines, "“"+says+"”")
		}
	}
	return lines
}
