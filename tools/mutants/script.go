package main

import (
	"regexp"
	"strings"
)

var (
	signs   = regexp.MustCompile(` (<|<=|>|>=|===|!==|\+|-|&&|\|\|) `)
	words   = regexp.MustCompile(`\b(true|false)\b`)
	numbers = regexp.MustCompile(`(^|[^\w.$#])(\d+(?:\.\d+)?)\b`)
	ifs     = regexp.MustCompile(`\bif \(`)
	calls   = regexp.MustCompile(`(?m)^[ \t]+[\w.]+(?:\(.*\)| = .*);[ \t]*$`)
)

// inScript returns the places in a file of JavaScript.
func inScript(file, text string) (places []place) {
	code := blank(text)
	add := func(operator string, start, end int, other string) {
		places = append(places, place{file, operator, start, end, other})
	}
	for _, m := range signs.FindAllStringSubmatchIndex(code, -1) {
		sign := code[m[2]:m[3]]
		add(named(sign), m[2], m[3], swaps[sign])
	}
	for _, m := range words.FindAllStringIndex(code, -1) {
		add(named("true"), m[0], m[1], swaps[code[m[0]:m[1]]])
	}
	for _, m := range numbers.FindAllStringSubmatchIndex(code, -1) {
		add("change a number", m[4], m[5], "("+code[m[4]:m[5]]+" + 1)")
	}
	for _, m := range calls.FindAllStringIndex(code, -1) {
		start := m[0] + len(code[m[0]:m[1]]) - len(strings.TrimLeft(code[m[0]:m[1]], " \t"))
		add("drop a statement", start, m[1], "")
	}
	for _, m := range ifs.FindAllStringIndex(code, -1) {
		depth := 1
		for i := m[1]; i < len(code); i++ {
			if code[i] == '(' {
				depth++
			} else if code[i] == ')' {
				depth--
			}
			if depth == 0 {
				add("negate a condition", m[1], i, "!("+text[m[1]:i]+")")
				break
			}
		}
	}
	return places
}

// blank returns the code with comments, strings and regular expressions blanked, in the same length.
func blank(text string) string {
	code := []byte(text)
	hide := func(from, to int) {
		for i := from; i < min(to, len(code)); i++ {
			if code[i] != '\n' {
				code[i] = '_'
			}
		}
	}
	last := byte('(') // the last byte of code that is no blank
	for i := 0; i < len(text); {
		rest, end := text[i:], i+1
		switch c := text[i]; {
		case strings.HasPrefix(rest, "//"):
			end = i + len(rest)
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				end = i + n
			}
			hide(i, end)
		case strings.HasPrefix(rest, "/*"):
			end = i + 2 + strings.Index(rest[2:]+"*/", "*/") + 2
			hide(i, end)
		case c == '"' || c == '\'' || c == '`' || c == '/' && strings.IndexByte("(,=:[!&|?{};>\n", last) >= 0:
			end = closing(text, i)
			hide(i, end)
			last = '_'
		default:
			if c != ' ' && c != '\t' && c != '\n' {
				last = c
			}
		}
		i = end
	}
	return string(code)
}

// closing returns where a string, a template or a regular expression ends that begins at i.
func closing(text string, i int) int {
	quote, inClass := text[i], false
	for j := i + 1; j < len(text); j++ {
		switch c := text[j]; {
		case c == '\\':
			j++
		case quote == '/' && (c == '[' || c == ']'):
			inClass = c == '['
		case c == quote && !inClass:
			return j + 1
		case quote == '`' && strings.HasPrefix(text[j:], "${"):
			depth := 0 // templates in a template are hidden with it
			for ; j < len(text); j++ {
				if text[j] == '{' {
					depth++
				} else if text[j] == '}' {
					if depth--; depth == 0 {
						break
					}
				} else if text[j] == '`' {
					j = closing(text, j) - 1
				}
			}
		}
	}
	return len(text)
}
