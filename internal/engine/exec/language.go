package exec

import (
	"strings"

	"gostress/internal/engine/sqlerr"
)

// language is the one that sessions of this engine speak: how it reads and
// writes dates is compiled into its conversions.
const language = "us_english"

// languages are the names and aliases of sys.syslanguages.
const languages = `us_english English Deutsch German Français French 日本語 Japanese Dansk Danish Español Spanish Italiano Italian
Nederlands Dutch Norsk Norwegian Português Portuguese Suomi Finnish Svenska Swedish čeština Czech magyar Hungarian polski Polish
română Romanian hrvatski Croatian slovenčina Slovak slovenski Slovenian ελληνικά Greek български Bulgarian русский Russian
Türkçe Turkish British British_English eesti Estonian latviešu Latvian lietuvių Lithuanian Português_(Brasil) Brazilian
繁體中文 Traditional_Chinese 한국어 Korean 简体中文 Simplified_Chinese Arabic ไทย Thai norsk_(bokmål) Bokmål`

// setLanguage checks the name of a language: error 2740 when SQL Server has no
// such language, 40517 when it is the engine that has not.
func setLanguage(name, statement string) error {
	if knownLanguage(name) {
		return nil
	}
	for _, l := range strings.Fields(languages) {
		if strings.EqualFold(strings.ReplaceAll(l, "_", " "), name) {
			return sqlerr.UnsupportedOption(statement + " " + name)
		}
	}
	return sqlerr.New(2740, 16, 1, "SET LANGUAGE failed because '%s' is not an official language name or a language alias on this SQL Server.", name)
}

// knownLanguage reports the languages of messages and dates that the engine has.
func knownLanguage(name string) bool {
	return strings.EqualFold(name, language) || strings.EqualFold(name, "English")
}
