"""The vocabulary of the generated collection: nationalities, classifications, media and titles.

Nationalities and classifications are what lake tables are partitioned by. Some have characters
that a path, a URL or an SQL text must not take for its own.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ADJECTIVES",
    "CLASSIFICATIONS",
    "CREDITS",
    "FOREIGN_TITLES",
    "GENDERS",
    "MEDIA",
    "NATIONALITIES",
    "NOUNS",
    "PLAIN_TITLES",
    "SERIES",
    "Classification",
]


def _entries(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


_FREQUENT = (
    "American 5199|German 930|French 839|British 834|Italian 531|Japanese 499|Swiss 280|Dutch 265"
    "|Nationality unknown 258|Austrian 243|Canadian 196|Russian 188|Brazilian 155|Spanish 153"
    "|Argentine 139|Swedish 130|Mexican 128|Polish 125|Danish 119"
)
_OTHERS = (
    "Belgian|Israeli|Chinese|Czech|Hungarian|Chilean|Cuban|Australian|Finnish|Norwegian|Korean"
    "|Venezuelan|Colombian|Irish|South African|Indian|Scottish|Greek|Croatian|Uruguayan|Portuguese"
    "|Peruvian|Romanian|Turkish|Icelandic|Iranian|Yugoslav|Serbian|Ukrainian|Thai|Puerto Rican"
    "|Native American|Slovenian|Guatemalan|Lebanese|Egyptian|Moroccan|Nigerian|Latvian|Georgian"
    "|New Zealander|Bulgarian|Slovak|Haitian|Ecuadorian|Kenyan|Estonian|Lithuanian|Taiwanese"
    "|Pakistani|Bosnian|Luxembourgish|Filipino|Welsh|Catalan|Albanian|Algerian|Canadian Inuit"
    "|Czechoslovakian|Bolivian|Congolese|Costa Rican|Cypriot|Ghanaian|Indonesian|Iraqi|Malian"
    "|Nicaraguan|Palestinian|Panamanian|Paraguayan|Senegalese|Singaporean|Sudanese|Syrian"
    "|Tunisian|Ugandan|Vietnamese|Zimbabwean|Afghan|Angolan|Azerbaijani|Bahamian|Burkinabe"
    "|Cambodian|Cameroonian|Emirati|Ethiopian|Guyanese|Ivorian|Kazakhstani|Kuwaiti|Kyrgyzstani"
    "|Macedonian|Malaysian|Mauritanian|Mozambican|Namibian|Rwandan|Sahrawi|Saudi Arabian|Tajik"
    "|Tanzanian|Various"
)
_ODD = (
    "nationality unknown",
    "Côte d'Ivoire",
    "Czech/Slovak",
    "American, born abroad",
    "Danish (Faroe Islands)",
    "50% Basque",
    "Citizenship=none",
    'So-called "stateless"',
    "日本 / 한국",
)

NATIONALITIES: tuple[tuple[str, int], ...] = (
    *((n, int(w)) for n, w in (entry.rsplit(" ", 1) for entry in _entries(_FREQUENT))),
    *((name, 45_000 // (place + 20) ** 2) for place, name in enumerate(_entries(_OTHERS))),
    *((name, 10) for name in _ODD),
)
"""With how often they are met, of some 12,600."""

GENDERS: tuple[tuple[str, int], ...] = (("Male", 9824), ("Female", 2193), ("male", 6))


@dataclass(frozen=True)
class Classification:
    """A kind of artwork."""

    name: str
    weight: int
    """Frequency, of some 5,000."""
    department: str
    medium: str
    """One of `MEDIA`."""
    shape: str = "flat"
    """`flat`, `solid` or `moving`: has a depth, or a duration instead of a size."""


_PRINTS = "Prints & Illustrated Books"
_DESIGN = "Architecture & Design"
_PAINTING = "Painting & Sculpture"
_MEDIA = "Media and Performance Art"

CLASSIFICATIONS: tuple[Classification, ...] = (
    Classification("Photograph", 1127, "Photography", "photograph"),
    Classification("Print", 1019, _PRINTS, "print"),
    Classification("Illustrated Book", 939, _PRINTS, "print"),
    Classification("Drawing", 456, "Drawings", "drawing"),
    Classification("Design", 383, _DESIGN, "design", "solid"),
    Classification("Painting", 102, _PAINTING, "painting"),
    Classification("Castrell & Vannhurst Archive", 84, _DESIGN, "drawing"),
    Classification("Architecture", 80, _DESIGN, "drawing"),
    Classification("Sculpture", 78, _PAINTING, "design", "solid"),
    Classification("Video", 70, _MEDIA, "moving", "moving"),
    Classification("Film", 64, "Film", "moving", "moving"),
    Classification("Multiple", 33, "Fluxus Collection", "design", "solid"),
    Classification("Installation", 23, _MEDIA, "moving", "solid"),
    Classification("Grøngaard Archive", 20, _DESIGN, "drawing"),
    Classification("(not assigned)", 24, _PAINTING, "painting"),
    Classification("Media", 14, _MEDIA, "moving", "moving"),
    Classification("Periodical", 13, _PRINTS, "print"),
    Classification("Audio", 12, _MEDIA, "moving", "moving"),
    Classification("Work on Paper", 11, "Drawings", "drawing"),
    Classification("Ephemera", 3, _PRINTS, "print"),
    Classification("Film (object)", 3, "Film", "design", "solid"),
    Classification("Photography Research/Reference", 3, "Photography", "photograph"),
    Classification("Furniture and Interiors", 2, _DESIGN, "design", "solid"),
    Classification("Textile", 2, _DESIGN, "design"),
    Classification("Performance", 2, _MEDIA, "moving", "moving"),
    Classification('Poster, 24" or larger', 2, _DESIGN, "print"),
    Classification("Collector's proof", 2, _PRINTS, "print"),
    Classification("Software=Interactive", 2, _MEDIA, "moving", "moving"),
    Classification("Loan, 50% share", 2, _PAINTING, "painting"),
)

MEDIA: dict[str, tuple[str, ...]] = {
    "photograph": (
        "Gelatin silver print",
        "Gelatin silver print",
        "Gelatin silver print",
        "Albumen silver print",
        "Chromogenic color print",
        "Platinum print",
        "Daguerreotype, 1/6 plate",
    ),
    "print": (
        "Lithograph",
        "Lithograph",
        "Etching",
        "Drypoint",
        "Aquatint, etching and drypoint",
        "Wood engraving",
        "Linoleum cut",
        "Screenprint",
        "Letterpress; 50% rag paper",
        "Pochoir over collotype, à la poupée",
    ),
    "drawing": (
        "Pencil on tracing paper",
        "Ink, pencil, and colored pencil on tracing paper",
        "Charcoal on paper",
        "Gouache on paper",
        "Cut-and-pasted paper, crayon, and pencil on board",
        "Conté crayon",
    ),
    "design": (
        "Painted plywood",
        "Chrome-plated steel and glass",
        "Bent beech and cane",
        "Bronze",
        'Steel rods (3/8") and wire',
        "Glazed porcelain",
        "ABS plastic",
        "Papier-mâché, motor, and switch",
    ),
    "painting": (
        "Oil on canvas",
        "Oil on canvas",
        "Tempera on panel",
        "Enamel on metal",
        "Synthetic polymer paint on canvas, two panels",
    ),
    "moving": (
        "Video (color, sound)",
        "Video (color, sound) ",  # a blank at the end, as few of the original have
        "16mm film (black and white, silent)",
        "35mm film transferred to video",
        "Two-channel video installation",
        "Magnetic tape",
    ),
}

ADJECTIVES = _entries(
    "Blue|Slow|Hollow|Second|Burning|Quiet|Folded|Northern|Unfinished|Yellow|Borrowed|Distant"
    "|Large|Small|Inverted|Crossed|Winter|Morning|Half-Open|Nameless"
)
NOUNS = _entries(
    "Harbor|Figure|Staircase|Orchard|Window|Composition|Bather|Bridge|Bowl|Chair|Horizon|Curtain"
    "|Kiosk|Ladder|Mirror|Self-Portrait|Landscape|Nocturne|Still Life|Street|Teapot|Well|Tower"
)
SERIES = _entries(
    "LES HEURES CREUSES|DIE GLÄSERNE STADT|CUADERNO DEL RÍO|Nine Doors|THE SALT ROAD"
    "|Å TELLE TRÆR|ALPHABET D'OMBRE|The 100% Book"
)
PLAIN_TITLES: tuple[str, ...] = (
    "Untitled",
    "Sans titre",
    "Ohne Titel",
    "Sin título",
    "Bez názvu",
    "Composition no. 7",
    "Study (recto/verso)",
    "What is 2 + 2?",
    "A = B; B <> A",
    "It's Only \\ Backslash",
    'The "Other" Room',
    "100% Wool, 0% Lamb",
)
FOREIGN_TITLES: tuple[str, ...] = (
    "Без названия",
    "Ночной трамвай у реки",
    "無題",
    "霧の中の階段",
    "雨后的渡口",
    "무제 (2번)",
    "بدون عنوان",
    "نافذة على البحر",
    "ללא כותרת",
    "שלושה כיסאות",
    "Χωρίς τίτλο",
    "अनाम चित्र",
    "L'Escalier d'été",
    "Gläserne Brücke",
    "Noční přívoz",
    "İkinci köprü",
    "Cây cầu mùa đông",
)
CREDITS: tuple[str, ...] = (
    "Purchase",
    "Purchase",
    "Purchase",
    "Gift of the artist",
    "Gift of the artist",
    "Gift of the publisher",
    "Anonymous gift",
    "Acquired through exchange",
    "Committee on Drawings Funds",
    "The Alderwick-Pellworth Collection",
    "The Alderwick-Pellworth Collection",
    "The Farnstow Fund (by exchange), 50% promised gift",
    "The Collection of Bärbel & Götz Schönwald | Library, Basel",
)
