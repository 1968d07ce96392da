package charset

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// TestUTF8 checks that a text in each set becomes what its writer wrote, and that UTF-8 stays
// unchanged.
func TestUTF8(t *testing.T) {
	for set, texts := range map[*charmap.Charmap][]string{
		charmap.ISO8859_1:   {"Café Müller", "¿Qué? ¡Olé!", "»»» ÆØÅ «««", "·.·´¯`·.·", "×÷×÷ 4x4 ×÷×÷", "ø", "Été", "Við spilum íslensku", "m³ und m²"},
		charmap.Windows1252: {"“Café” – 5 €", "l’œuf • Ÿ"},
		charmap.Windows1251: {"Русский", "[RU] Русский сервер №1 | 24/7", "»Сервер«", "СЕРВЕР ДЛЯ СВОИХ", "МегаСервер", "Київ, їжак і Ґанок", "ёжик", "Мы ждём"},
		charmap.KOI8R:       {"Русский сервер", "Добро Пожаловать"},
		charmap.Windows1253: {"Ελλάδα", "Ο Σέρβερ της Αθήνας"},
		charmap.Windows1250: {"Gracze z całej Polski", "Łódź", "Książę", "Żółw"},
		charmap.Windows1254: {"Türk sunucusu, ağır silah", "Güzel İstanbul", "Çılgın Şövalye"},
	} {
		for _, text := range texts {
			raw, err := set.NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := UTF8(raw); got != text {
				t.Errorf("%v: %q became %q", set, text, got)
			}
			if got := UTF8(text); got != text {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	for text, want := range map[string]string{
		"":                       "",
		"plain":                  "plain",
		"Привет, ми\xd1":         "Привет, ми\xd1", // cut
		"sweet \xe2\x98":         "sweet \xe2\x98",
		"Caf\xe9":                "Café", // the last byte might begin a letter of UTF-8
		"Привет \xff мир":        "Привет \xff мир",
		"a\x01\xe9\x00b":         "a\x01é\x00b",
		"\xd7\xd7\xd7\xd7 abc":   "×××× abc",
		"\xef\xee-\xea\xee\xed!": "по-кон!", // few letters, in words of their own
	} {
		if got := UTF8(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzUTF8(f *testing.F) {
	f.Add("Caf\xe9 \xd0\xf3\xf1")
	f.Fuzz(func(t *testing.T, text string) {
		got := UTF8(text)
		if utf8.ValidString(text) && got != text || len(got) > 3*len(text) || UTF8(got) != got {
			t.Errorf("%q became %q, and then %q", text, got, UTF8(got))
		}
	})
}
