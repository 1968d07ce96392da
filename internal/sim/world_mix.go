package sim

// mixET returns the ten largest countries of ATNAC 2006, Table 2 as printed. The tail of smaller
// ones is a guess at the rest of 50-52 countries.
func mixET() []Share {
	return []Share{
		{"DE", 943}, {"US", 554}, {"NL", 312}, {"GB", 209}, {"FR", 147}, {"PL", 83}, {"FI", 60}, {"CZ", 58}, {"AU", 51}, {"JP", 50},
		{"SE", 49}, {"DK", 46}, {"BE", 45}, {"CA", 44}, {"CH", 40}, {"AT", 38}, {"NO", 36}, {"IT", 34}, {"ES", 28}, {"HU", 25},
		{"SK", 18}, {"PT", 16}, {"RU", 15}, {"EE", 12}, {"LT", 11}, {"BR", 10}, {"LV", 9}, {"RO", 9}, {"SI", 9}, {"IE", 8},
		{"HR", 8}, {"IL", 7}, {"TR", 7}, {"GR", 6}, {"TW", 6}, {"LU", 5}, {"KR", 5}, {"IS", 4}, {"NZ", 4}, {"UA", 4},
		{"SG", 4}, {"CN", 3}, {"HK", 3}, {"ZA", 3}, {"AR", 3}, {"BG", 3}, {"CL", 2}, {"MY", 2}, {"TH", 1}, {"MX", 1}, {"MT", 1},
	}
}

// mixCSS is a guess. The papers print no countries for Counter-Strike: Source. They only say that
// Europe has many servers, the USA some and Asia few, in 69-71 countries.
func mixCSS() []Share {
	return []Share{
		{"DE", 6500}, {"US", 4800}, {"GB", 2750}, {"FR", 2350}, {"NL", 1450}, {"SE", 1000}, {"PL", 950}, {"RU", 900}, {"DK", 880}, {"AU", 700},
		{"IT", 680}, {"ES", 640}, {"CA", 560}, {"NO", 480}, {"CZ", 460}, {"BE", 450}, {"FI", 430}, {"BR", 420}, {"HU", 360}, {"RO", 340},
		{"AT", 330}, {"CH", 300}, {"CN", 260}, {"PT", 240}, {"TW", 220}, {"UA", 190}, {"TR", 190}, {"SK", 170}, {"JP", 150}, {"SG", 130},
		{"NZ", 120}, {"KR", 110}, {"ZA", 110}, {"BG", 110}, {"IL", 110}, {"AR", 110}, {"LT", 100}, {"LV", 90}, {"EE", 90}, {"HK", 80},
		{"IE", 80}, {"GR", 75}, {"HR", 70}, {"SI", 65}, {"RS", 60}, {"IS", 50}, {"CL", 50}, {"MY", 45}, {"MX", 40}, {"TH", 38},
		{"PH", 30}, {"IN", 30}, {"ID", 25}, {"BY", 22}, {"LU", 20}, {"VE", 18}, {"PE", 14}, {"KZ", 12}, {"AE", 10}, {"CY", 9},
		{"MT", 8}, {"MD", 8}, {"BA", 7}, {"MK", 6}, {"CO", 6}, {"KW", 5}, {"UY", 4}, {"EG", 3}, {"MA", 2}, {"CR", 2},
	}
}
