"""Invented names of artists, donors and firms, in the scripts that nationalities call for.

Family names are put together from stems and endings, so that they are nobody's on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CITIES", "LATIN_OF", "NATIVE_OF", "NICKNAMES", "PEOPLES", "People"]


@dataclass(frozen=True)
class People:
    """Names that go together."""

    given: tuple[str, ...]
    family: tuple[str, ...]
    family_first: bool = False
    separator: str = " "


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _families(stems: str, endings: str) -> tuple[str, ...]:
    return tuple(f"{stem}{ending}" for stem in stems.split() for ending in endings.split())


PEOPLES: dict[str, People] = {
    "english": People(
        _words(
            "Ada Alvin Bertha Calvin Cora Dwight Edith Elmer Esther Floyd Gladys Harriet Hollis"
            " Ira Josiah Lorna Mabel Merton Nell Orville Pearl Roscoe Sybil Thaddeus Una Vernon"
            " Winifred Zelda J.P. Mary-Lou"
        ),
        _families(
            "Alder Bram Cors Dunn Elmer Farn Gar Hollo Kerr Lang Mere Nor O'Dar Pell Quar Thorn"
            " MacEl Vann",
            "wick by combe dale field hurst ley more ridge stow thwaite worth",
        ),
    ),
    "german": People(
        _words(
            "Adalbert Anneliese Bärbel Dietmar Elfriede Friedhelm Gerda Götz Hedwig Ilse Jörg"
            " Käthe Lothar Margarethe Ottokar Rüdiger Sieglinde Traugott Ulrike Wendelin"
        ),
        _families(
            "Abend Brück Dürr Eich Förd Grau Hölz Klee Lind Müns Roß Schön Tau Weiß",
            "hagen heimer inger lein mannsdorf oth reuter strößer wald",
        ),
    ),
    "romance": People(
        _words(
            "Aurèle Benoît Cécile Célestin Étienne Françoise Geneviève Hervé Inês João Joaquín"
            " Léonie Maïté Mercè Níobe Ofélia Raúl Régine Sebastião Tonino Ursicino Xènia Yáñez"
        ),
        _families(
            "Alb Bass Carr Dell'Or Étoil Falc Garr L'Herm Mont Orsér Palm Rém Sér Vill",
            "ade agné ão azzi elló érieux etti iñán ola oquín uçon y-Marçal",
        ),
    ),
    "nordic": People(
        _words(
            "Åse Bjørg Dagný Eiríkur Göran Håkon Ingeborg Jørgen Kåre Leifur Märta Ólöf Pälvi"
            " Ragnhild Sølvi Torbjörn Vésteinn Väinö"
        ),
        _families(
            "Aske Bjørk Dals Elv Fjäll Grøn Havs Kål Lør Mø Skög Tjär Ås",
            "berget dóttir felt gaard holm kvist lund qvist rød strøm vik",
        ),
    ),
    "slavic": People(
        _words(
            "Božena Bronisław Čeněk Dobromír Elżbieta Jiří Łucja Ľubomír Małgorzata Miloš Ondřej"
            " Růžena Stanisława Świętosława Vjekoslav Zdeněk Željka Žofia"
        ),
        _families(
            "Bez Brzo Černo Dąb Hvo Jász Kře Lisz Mrá Pěk Rzep Šte Wiśn Zá",
            "czyński dec kovičová lák ński nošák řík szczak šević",
        ),
    ),
    "other": People(
        _words(
            "Abiola Adwoa Anh Bao Chidera Dilnoza Farrukh Gulshan Hatsue Ikram Jamshid Kirti"
            " Lakshmi Minh Nasrin Oyelaran Parveen Rukmini Sunan Thandeka Umut Wairimu Yetunde"
        ),
        _families(
            "Aba Bande Chau Dera Ebi Gana Hara Ige Kama Lawa Moto Nzi Ogu Rama Sato Tana Ula",
            "dhar gawa khan layo moto nkwo pong rathne suri tayo wan yev",
        ),
    ),
    "cyrillic": People(
        _words(
            "Аполлинарий Варвара Всеволод Глафира Евдокия Захар Клавдия Лукерья Мстислав Никодим"
            " Пантелей Серафима Тихон Ульяна Фёдор Ярослава"
        ),
        _families(
            "Берёз Веч Горо Дубо Заре Кали Ледя Мали Озер Пере Снего Туча Щу",
            "вин вцев дский ненко нюк хин цкая шлов",
        ),
    ),
    "chinese": People(
        _words("岚舟 墨遥 雁书 砚秋 汀兰 霁野 疏影 云帆 听雪 竹青 夜澄 江渡"),
        _words("石 柳 冷 欧阳 霍 秋 司徒 宁 钟 简 尹 白"),
        family_first=True,
        separator="",
    ),
    "japanese": People(
        _words("霧子 朔太 澪 蒼一郎 さくの 灯 いおり 汐音 ミチル 楓馬 千景 ゆらぎ"),
        _words("霧谷 朝凪 雪ノ下 水上 葦原 月岡 遠江 鈴掛 風早 浅葱 石動 萩野"),
        family_first=True,
    ),
    "korean": People(
        _words("가람 누리 다솔 라온 미르 별하 새빛 아라 이든 초롱 한결 해솔"),
        _words("남궁 독고 선우 제갈 황보 탁 빙 옥 석 표"),
        family_first=True,
        separator="",
    ),
    "arabic": People(
        _words("إيناس بثينة تيسير جمانة حسّان رجاء زكريّا سلافة شهاب ضياء غسّان نضال هيام يمامة"),
        _words("البستاني التلمساني الحدّاد الرمّال السرّاج الشاطئ الغزّال القنديل النجّار الورّاق"),
    ),
    "hebrew": People(
        _words("אביטל אלומה ארנון גפן דרור הדס זוהר יערה כרמל נחשון עמליה רותם שקד תמרה"),
        _words("אלון־ברק בן־יער גלבוע הר־צבי כרמון מעיין סלעי ערבה צור־נוי רימון שדה־אור"),
    ),
    "greek": People(
        _words("Ανθούλα Βρασίδας Ερατώ Θρασύβουλος Ισμήνη Καλλιρρόη Λεωνίδας Ξενοφών Φαίδρα"),
        _families("Αλω Βαρδ Δρακ Κυρ Μελ Πετρ Σταυρ", "άκης ίδης όπουλος ούσης ιάδης"),
    ),
    "devanagari": People(
        _words("अनुराधा ईशान उर्मिला कुणाल गार्गी तेजस नंदिनी मृणाल ललिता विभोर"),
        _words("अग्निवंश कमलकर गिरिनाथ चंद्रात्रे देवरुखकर नीलकंठी भास्करे सागरवाल"),
    ),
}
"""Groups of names, by what they are called here."""

LATIN_OF: dict[str, str] = {
    **dict.fromkeys(_words("American British Canadian Irish Australian Scottish Welsh"), "english"),
    **dict.fromkeys(_words("German Austrian Swiss Dutch Luxembourgish"), "german"),
    **dict.fromkeys(
        _words(
            "French Italian Spanish Belgian Brazilian Argentine Mexican Portuguese Chilean Cuban"
            " Colombian Venezuelan Uruguayan Peruvian Catalan Romanian Bolivian Ecuadorian"
        ),
        "romance",
    ),
    **dict.fromkeys(_words("Swedish Danish Norwegian Finnish Icelandic"), "nordic"),
    **dict.fromkeys(
        _words(
            "Polish Czech Czechoslovakian Hungarian Croatian Serbian Yugoslav Slovak Slovenian"
            " Russian Ukrainian Bulgarian Bosnian Latvian Lithuanian Estonian"
        ),
        "slavic",
    ),
}
"""Latin names of a nationality; "english" where it is unknown, "other" elsewhere."""

NATIVE_OF: dict[str, str] = {
    **dict.fromkeys(
        _words("Russian Ukrainian Bulgarian Serbian Macedonian Kazakhstani"), "cyrillic"
    ),
    **dict.fromkeys(_words("Chinese Taiwanese Singaporean"), "chinese"),
    "Japanese": "japanese",
    "Korean": "korean",
    **dict.fromkeys(
        _words(
            "Egyptian Iraqi Lebanese Moroccan Algerian Tunisian Syrian Palestinian Sudanese"
            " Kuwaiti Emirati"
        ),
        "arabic",
    ),
    "Israeli": "hebrew",
    **dict.fromkeys(_words("Greek Cypriot"), "greek"),
    "Indian": "devanagari",
}
"""Names in another script that some artists of a nationality have."""

NICKNAMES = _words("Pip Notch Bo Tilly Señor Zaza Mop Dée Kit Œil")

CITIES: tuple[str, ...] = (
    "Aarhus",
    "Basel",
    "Bogotá",
    "Chicago",
    "Düsseldorf",
    "Kraków",
    "København",
    "Malmö",
    "Milano",
    "New York",
    "São Paulo",
    "Tōkyō",
    "Zürich",
)
