package address

import (
	"slices"
	"strings"
)

// firstPort is the first port that a program without rights may have, and the smallest
// number that is a port without a word or a colon that says so.
const firstPort = 1024

// Numbers of these are more likely years in a name.
const firstYear, lastYear = 1900, 2100

func list(words string) []string { return strings.Fields(words) }

var (
	// ports name a port, in the languages of the catalogue and some more.
	ports = list("port porta porto puerto poort portti порт ポート 端口 埠 포트 udp tcp")
	// ofServer stand before "port" where it is the server's, as in gameport.
	ofServer = list("server game join host net default connect connection listen udp tcp main")
	// labels stand before an address.
	labels = list("ip ips ipv4 ipv6 address addr adresse adres host hostname server connect connection join url domain ip-address " +
		"ipaddress server-ip serverip server_ip адрес айпи сервер アドレス サーバー 地址 服务器 주소 서버 dirección direccion endereço servidor serveur serwer indirizzo")
	// commands stand before the address to connect to.
	commands = list("connect reconnect")
	// secrets stand before a password, which may be a number.
	secrets = list("password passwort pass passwd pw pwd psw kennwort passwd contraseña senha mdp hasło heslo пароль 密码 パスワード 비밀번호 " +
		"rcon rcon_password sv_password")
	// units follow a number of something else.
	units = list("players player slots slot spieler joueurs jugadores jogadores игроков слотов max maxplayers people users bots ms ping tick tickrate hz fps man vs " +
		"人 名 명")
	// joins stand between two addresses of equal standing.
	joins = list("and or und oder et ou y o e i и или & + also")
	// files are endings of programs and files that are no domains.
	files = list("exe cfg txt bat dll ini json xml log pk3 bsp wad jar lnk vdf csv x86 html php")
	// types are QStat's, and those of the table of games (internal/game).
	types = list("A2S AQ2S BEAMMP BEDROCK BF3 BF4 BFBC2 BFH BFS BZFLAG CDIESELS COD2S COD4S CODS CRS CUBE2 D3S DDAYS DM3S DOOMBRINGERS DOPEWARS EFS " +
		"EFM ETQWS ETS EYE FCS FIVEM FLS FREECIV GPS GRS GS2 GS3 GS4 H2S HEDGEWARS HL2S HLA2S HLS HWS IOURTS IW4X JAMULUS JK2S JK3S KPS LUANTI " +
		"MAQS MAS MEGAGLEST MHS MINDUSTRY MINECRAFT MUMBLE NETREK NEXUIZS NXS ODAMEX OPENARENAS OPENRA OPENRCT2 OTTDS PAS PIONEERS " +
		"PREYS PRS Q2S Q3RALLYS Q3S Q4S QS QUETOOS QWS RAGEMP REACTIONS REALMS REDECLIPSE REDM REXUIZS RVS RWS SAMP SATISFACTORY " +
		"SAS SFS SGS SHS SIEGE SMOKINGUNSS SMS SNS SOF2M SOF2M1.0 SOF2S SOLDAT SS14 STVEF2 T2S TBS TEE TEES TERRARIA TF2MM TIBIA TMS TMW " +
		"TREMULOUS TREMULOUSGPPS TREMULOUSS TS2 TS3 TURTLEARENAS UN2S UNS UNVANQUISHEDS UO UT2004S UT2S VCMP VELOREN VINTAGESTORY WARFORKS " +
		"WARSOWS WAWS WESNOTH WICS WOETS WOPS WSS XNS XONOTICS ZANDRONUM ZEQ2LITES")
	// linkPorts are the default ports of kinds of links, where they differ from the game's own.
	linkPorts = map[string]uint16{"ss14s": 443}
)

// IsType reports whether QStat or the table of games calls servers by a word.
func IsType(word string) bool { return slices.Contains(types, strings.ToUpper(word)) }

// isLabel reports whether a word, also with a sign or a colon, stands before an address or a port.
func isLabel(word string) bool {
	word = bare(word)
	return slices.Contains(labels, word) || slices.Contains(commands, word) || isPort(word)
}

// isReserved reports whether a word alone is never a host: it stands before one.
func isReserved(word string) bool {
	return slices.Contains(commands, word) || isPort(word) || word == "addr" || word == "address" || word == "ip"
}

func isFile(name string) bool {
	_, last, found := cutLast(name, ".")
	return found && slices.Contains(files, last)
}

// bare returns a word in small letters, without the signs of options and commands
// around it.
func bare(word string) string {
	return strings.ToLower(strings.TrimRight(strings.TrimLeft(word, `+-\.`), ":.,"))
}

// isPort reports whether a word stands before the server's port.
func isPort(word string) bool {
	of, is := portOfWhat(word)
	return is && (of == "" || slices.Contains(ofServer, of))
}

// portOfWhat splits names of ports such as server-port and query_port.
func portOfWhat(word string) (of string, is bool) {
	word = bare(word)
	if slices.Contains(ports, word) {
		return "", true
	}
	of, is = strings.CutSuffix(word, "port")
	of = strings.TrimRight(of, "-_.")
	return of, is && (slices.Contains(ofServer, of) || slices.Contains(otherPorts, of))
}

// otherPorts stand before "port" where it is not the one that players connect to.
var otherPorts = list("query rcon steam client voice tv gotv sourcetv web http ftp sftp q source beacon local lan")
