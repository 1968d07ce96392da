package qstat

import "strings"

// defaultPort returns the port of a type's servers, 0 if the type is unknown. QStat
// omits it unless its user gave it. (qstat.h, qstat.cfg)
func defaultPort(kind string) uint16 {
	switch strings.ToUpper(kind) {
	case "QS", "XONOTICS", "NEXUIZS":
		return 26000
	case "QWS":
		return 27500
	case "Q2S", "ALIENARENAS", "QUETOOS":
		return 27910
	case "Q3S", "OPENARENAS", "IOURTS", "WOETS", "UNVANQUISHEDS", "SMOKINGUNSS", "REACTIONS",
		"TURTLEARENAS", "WOPS", "RWS", "EFS":
		return 27960
	case "A2S", "HLS", "HL2S", "HLA2S":
		return 27015
	case "TEES":
		return 8303
	case "WARSOWS", "WARFORKS":
		return 44400
	case "CODS", "COD2S", "COD4S", "WAWS":
		return 28960
	case "JK2S":
		return 28070
	case "JK3S":
		return 29070
	}
	return 0
}
