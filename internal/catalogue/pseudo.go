package catalogue

import "strings"

// accents replaces letters by similar ones, so that untranslated text stands out.
var accents = strings.NewReplacer(
	"a", "á", "e", "é", "i", "í", "o", "ó", "u", "ú", "y", "ý", "c", "ç", "n", "ñ", "s", "š", "z", "ž",
	"A", "Å", "E", "É", "I", "Î", "O", "Ö", "U", "Û", "C", "Ç", "N", "Ñ", "S", "Š", "Z", "Ž",
)

// longer says how much longer than English other languages are, in percent.
const longer = 40

// Accent returns an English pattern in the accented language, such as "[Ýóú áré ín ···]". Arguments,
// kinds, cases and tags stay.
func Accent(text string) string {
	p, err := parse(text)
	if err != nil {
		return text // the test of the files tells of it
	}
	var b strings.Builder
	letters := p.accented(&b)
	return "[" + b.String() + strings.Repeat("·", (letters*longer+99)/100) + "]"
}

// accented writes a pattern with accents, and returns how many letters its longest reading has.
func (m pattern) accented(b *strings.Builder) (letters int) {
	for _, p := range m {
		switch p.kind {
		case asIs:
			switch p.name {
			case "":
				b.WriteString(accents.Replace(p.text))
				letters += len([]rune(p.text))
			case "#":
				b.WriteString("#")
			default:
				b.WriteString("{" + p.name + "}")
			}
		case tag:
			b.WriteString("<" + p.name + ">")
			letters += p.caseFor(other).accented(b)
			b.WriteString("</" + p.name + ">")
		case tenths:
			b.WriteString("{" + p.name + ", " + p.kind.String() + ", " + style + "}")
		case date, clock, row:
			b.WriteString("{" + p.name + ", " + p.kind.String() + "}")
		default:
			b.WriteString("{" + p.name + ", " + p.kind.String() + ",")
			most := 0
			for _, c := range p.cases {
				b.WriteString(" " + c.name + " {")
				most = max(most, c.accented(b))
				b.WriteString("}")
			}
			b.WriteString("}")
			letters += most
		}
	}
	return letters
}

func (k kind) String() string {
	for name, known := range kinds {
		if known == k {
			return name
		}
	}
	return ""
}
