package topology

import "strings"

// regions are parts of the world whose countries are close to each other, by their
// codes (ISO 3166-1). They are those of the United Nations (M49), with two changes.
// Asia and America are split, because they are too large. North Africa joins western
// Asia, which is nearer than the rest of Africa. Small letters are of wide countries of
// another region that reach into this one.
var regions = [...]string{
	"AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME " +
		"MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK",
	"AE AM AZ BH CY DZ EG EH GE IL IQ IR JO KW LB LY MA OM PS QA SA SD SY TN TR YE",
	"ru KG KZ TJ TM UZ AF BD BT IN LK MV NP PK IO",
	"ru us CN HK JP KP KR MN MO TW",
	"au BN ID KH LA MM MY PH SG TH TL VN CC CX",
	"us AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS",
	"BM CA GL PM US",
	"us AG AI AW BB BL BQ BS BZ CR CU CW DM DO GD GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PR SV SX TC TT VC VG VI",
	"AR BO BR CL CO EC FK GF GY PE PY SR UY VE GS",
	"AO BF BI BJ BW CD CF CG CI CM CV DJ ER ET GA GH GM GN GQ GW KE KM LR LS MG ML MR MU MW MZ NA NE NG RE RW " +
		"SC SH SL SN SO SS ST SZ TD TF TG TZ UG YT ZA ZM ZW",
}

// Regions is the number of regions.
const Regions = len(regions)

// findRegions notes the region of each country, and those that it reaches into.
func (t *Tree) findRegions() {
	of, reaches := make(map[string]int8), make(map[string][]int8)
	for r, codes := range regions {
		for code := range strings.FieldsSeq(codes) {
			if wide := strings.ToUpper(code); wide != code {
				reaches[wide] = append(reaches[wide], int8(r))
			} else {
				of[code] = int8(r)
			}
		}
	}
	t.region, t.reaches = make(map[Node]int8), make(map[Node][]int8)
	for c := Root + 1; int(c) < len(t.level); c = t.end[c] {
		country := t.servers[t.order[t.first[c]]].Country
		if r, ok := of[country]; ok {
			t.region[c], t.reaches[c] = r, reaches[country]
		}
	}
}

// Region returns the region of a node of level [Country], from 0 up to [Regions]. It is
// -1 if the region is unknown or the node is of another level.
func (t *Tree) Region(n Node) int {
	if t.level[n] != Country {
		return -1
	}
	if r, ok := t.region[n]; ok {
		return int(r)
	}
	return -1
}

// Reaches returns the other regions that a wide country reaches into.
func (t *Tree) Reaches(country Node) []int8 { return t.reaches[country] }
