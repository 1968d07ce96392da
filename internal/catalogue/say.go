package catalogue

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	cldr "golang.org/x/text/feature/plural"
	"golang.org/x/text/number"

	"muster/discovery"
	"muster/discovery/sentence"
)

// Say returns a sentence in the reader's language. Its arguments may come from strangers:
// [discovery.CleanText] cleans and cuts them, and they cannot turn the direction of the text around
// them. A missing argument appears as its name in braces. A key that this release does not know
// appears as it is.
func (l *Language) Say(s sentence.Sentence) string {
	with := s.With.Values()
	if text, isText := with["text"].(string); s.Key == plain && isText {
		return l.isolated(cleaned(text))
	}
	p, ok := l.patterns[s.Key]
	if !ok {
		return cleaned(s.Key)
	}
	var b strings.Builder
	l.say(&b, p, with, "")
	return b.String()
}

// plain is the key of [sentence.Plain]. Its text is a whole sentence, and is not cut.
const plain = "plain"

// cleaned folds white space, and drops what does not print.
func cleaned(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.Join(strings.Fields(text), " "))
}

// Words returns the sentence of a key with its arguments, as [sentence.Of] takes them.
func (l *Language) Words(key string, pairs ...any) string { return l.Say(sentence.Of(key, pairs...)) }

// SayAll returns some sentences as texts.
func (l *Language) SayAll(sentences []sentence.Sentence) (texts []string) {
	for _, s := range sentences {
		texts = append(texts, l.Say(s))
	}
	return texts
}

// Capital returns a text that begins with a capital, where the language has some, and ends as a
// sentence does.
func (l *Language) Capital(text string) string {
	for i, r := range text {
		text = cases.Upper(l.tag).String(string(r)) + text[i+len(string(r)):]
		break
	}
	if last, _ := utf8.DecodeLastRuneInString(text); text == "" || strings.ContainsRune(".?!…。？！", last) {
		return text
	}
	return text + l.Words("list.stop")
}

// say writes a pattern; count is the number that the plural around it is about.
func (l *Language) say(b *strings.Builder, p pattern, with map[string]any, count string) {
	for _, part := range p {
		if part.name == "" {
			b.WriteString(part.text)
			continue
		}
		if part.name == "#" {
			b.WriteString(count)
			continue
		}
		value, ok := with[part.name]
		switch part.kind {
		case plural:
			n, _ := value.(float64)
			l.say(b, part.caseFor(l.category(part, n)), with, l.number(n))
		case tag:
			l.say(b, part.caseFor(other), with, count)
		case choose:
			text, _ := value.(string)
			l.say(b, part.caseFor(text), with, count)
		case row:
			b.WriteString(l.row(value))
		case tenths:
			n, _ := value.(float64)
			b.WriteString(l.decimal(n, number.Scale(1)))
		case date, clock:
			text, _ := value.(string)
			at, err := time.Parse(time.RFC3339, text)
			switch {
			case err != nil:
				b.WriteString(l.argument(value))
			case part.kind == clock:
				b.WriteString(at.Local().Format("15:04"))
			default:
				b.WriteString(l.day(at.Local()))
			}
		default:
			if !ok {
				b.WriteString("{" + part.name + "}")
				continue
			}
			b.WriteString(l.argument(value))
		}
	}
}

// caseFor returns the pattern of a case, or of other.
func (p part) caseFor(name string) pattern {
	for _, wanted := range []string{name, other} {
		if i := slices.IndexFunc(p.cases, func(o option) bool { return o.name == wanted }); i >= 0 {
			return p.cases[i].pattern
		}
	}
	return nil
}

// category returns the case of a plural for a number: the number itself, or its category in the
// language (unicode.org/reports/tr35/tr35-numbers.html#Language_Plural_Rules).
func (l *Language) category(p part, n float64) string {
	exact := "=" + strconv.FormatFloat(n, 'f', -1, 64)
	if slices.ContainsFunc(p.cases, func(o option) bool { return o.name == exact }) {
		return exact
	}
	tenths := int(math.Round(math.Abs(n) * 10))
	digits := min(tenths%10, 1) // of the fraction that is shown
	return categories[cldr.Cardinal.MatchPlural(l.tag, tenths/10, digits, digits, tenths%10, tenths%10)]
}

var categories = map[cldr.Form]string{
	cldr.Other: other, cldr.Zero: "zero", cldr.One: "one", cldr.Two: "two", cldr.Few: "few", cldr.Many: "many",
}

func (l *Language) argument(value any) string {
	switch v := value.(type) {
	case string:
		return l.isolated(discovery.CleanText(v))
	case float64:
		return l.number(v)
	case sentence.Sentence:
		return l.Say(v)
	case []string:
		return l.list(len(v), func(i int) string { return l.argument(v[i]) })
	case []sentence.Sentence:
		return l.list(len(v), func(i int) string { return l.Say(v[i]) })
	}
	return ""
}

// number returns a number with the language's own digits and marks, and one decimal at most.
func (l *Language) number(n float64) string { return l.decimal(n, number.MaxFractionDigits(1)) }

func (l *Language) decimal(n float64, digits number.Option) string {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return "–"
	}
	return l.numbers.Sprint(number.Decimal(n, digits))
}

// row returns the items of a list with commas between them.
func (l *Language) row(value any) string {
	text := ""
	add := func(item string) {
		if text != "" {
			item = l.joined("list.more", text, item)
		}
		text = item
	}
	switch v := value.(type) {
	case []string:
		for _, item := range v {
			add(l.argument(item))
		}
	case []sentence.Sentence:
		for _, item := range v {
			add(l.Say(item))
		}
	}
	return text
}

// list returns some items as people say them: "ann, ben and eve".
func (l *Language) list(n int, item func(int) string) string {
	text := ""
	for i := range n {
		switch {
		case i == 0:
			text = item(i)
		case i < n-1:
			text = l.joined("list.more", text, item(i))
		case n == 2:
			text = l.joined("list.two", text, item(i))
		default:
			text = l.joined("list.last", text, item(i))
		}
	}
	return text
}

// joined puts two clean texts into the pattern of a key with {first} and {next}.
func (l *Language) joined(key, first, next string) string {
	var b strings.Builder
	for _, part := range l.patterns[key] {
		switch part.name {
		case "first":
			b.WriteString(first)
		case "next":
			b.WriteString(next)
		default:
			b.WriteString(part.text)
		}
	}
	return b.String()
}

// day returns a date as "Friday, 27 November".
func (l *Language) day(at time.Time) string {
	return l.Words("date.day",
		"weekday", sentence.Of("date.weekday."+strconv.Itoa(int(at.Weekday()))),
		"day", at.Day(), "month", sentence.Of("date.month."+strconv.Itoa(int(at.Month()))))
}

// Unicode's marks for a text that has a direction of its own.
const (
	firstStrong = "\u2068"
	popIsolate  = "\u2069"
)

// isolated puts marks around a text that is written from right to left. Terminals that know no
// directions would show the marks, so other texts get none.
func (l *Language) isolated(text string) string {
	isForeign := strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam)
	})
	if !isForeign && !l.isolates {
		return text
	}
	return firstStrong + text + popIsolate
}
