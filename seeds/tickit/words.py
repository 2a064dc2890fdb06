"""The vocabulary of the generated data set: categories, places, people and things on stage."""

from __future__ import annotations

__all__ = [
    "CATEGORIES",
    "CITIES",
    "FIRST_NAMES",
    "HOLIDAYS",
    "LAST_NAMES",
    "MAIL_DOMAINS",
    "MONTHS",
    "PROGRAMME",
    "VENUE_KINDS",
    "VENUE_NAMES",
    "WEEKDAYS",
]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CATEGORIES: tuple[tuple[int, str, str, str], ...] = (
    (1, "Sports", "MLB", "Major League Baseball"),
    (2, "Sports", "NHL", "National Hockey League"),
    (3, "Sports", "NFL", "National Football League"),
    (4, "Sports", "NBA", "National Basketball Association"),
    (5, "Sports", "MLS", "Major League Soccer"),
    (6, "Shows", "Musicals", "Musical theatre"),
    (7, "Shows", "Plays", "All non-musical theatre"),
    (8, "Shows", "Opera", "All opera and light opera"),
    (9, "Concerts", "Pop", "All rock and pop music concerts"),
    (10, "Concerts", "Jazz", "All jazz singers and bands"),
    (11, "Concerts", "Classical", "All symphony, concerto, and choir concerts"),
)
"""catid, catgroup, catname, catdesc."""

WEEKDAYS = _words("MO TU WE TH FR SA SU")
MONTHS = _words("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")

HOLIDAYS: tuple[str, ...] = (
    "2008-01-01",
    "2008-01-21",
    "2008-02-18",
    "2008-05-26",
    "2008-07-04",
    "2008-09-01",
    "2008-10-13",
    "2008-11-11",
    "2008-11-27",
    "2008-12-25",
)

_CITIES = """
Albany NY|Albuquerque NM|Anchorage AK|Annapolis MD|Asheville NC|Atlanta GA|Austin TX|Baltimore MD
Baton Rouge LA|Billings MT|Birmingham AL|Boise ID|Boston MA|Boulder CO|Buffalo NY|Burlington VT
Charleston SC|Charlotte NC|Chattanooga TN|Cheyenne WY|Chicago IL|Cincinnati OH|Cleveland OH
Columbus OH|Dallas TX|Dayton OH|Denver CO|Des Moines IA|Detroit MI|Dover DE|Durham NC|El Paso TX
Eugene OR|Fargo ND|Flagstaff AZ|Fort Worth TX|Fresno CA|Grand Rapids MI|Green Bay WI|Hartford CT
Honolulu HI|Houston TX|Indianapolis IN|Jackson MS|Jacksonville FL|Juneau AK|Kansas City MO
Knoxville TN|Las Vegas NV|Lexington KY|Lincoln NE|Little Rock AR|Los Angeles CA|Louisville KY
Madison WI|Manchester NH|Memphis TN|Miami FL|Milwaukee WI|Minneapolis MN|Missoula MT|Mobile AL
Montréal QC|Nashville TN|New Haven CT|New Orleans LA|New York City NY|Newark NJ|Norfolk VA
Oakland CA|Oklahoma City OK|Omaha NE|Orlando FL|Ottawa ON|Philadelphia PA|Phoenix AZ
Pittsburgh PA|Portland ME|Portland OR|Providence RI|Québec QC|Raleigh NC|Reno NV|Richmond VA
Rochester NY|Sacramento CA|Saint Louis MO|Saint Paul MN|Salt Lake City UT|San Antonio TX
San Diego CA|San Francisco CA|San José CA|Santa Fe NM|Savannah GA|Seattle WA|Sioux Falls SD
Spokane WA|Syracuse NY|Tacoma WA|Tampa FL|Toledo OH|Toronto ON|Tucson AZ|Tulsa OK|Vancouver BC
Washington DC|Wichita KS|Wilmington DE|Winnipeg MB|Worcester MA
"""
CITIES: tuple[tuple[str, str], ...] = tuple(
    (entry[:-3], entry[-2:]) for line in _CITIES.split("\n") if line for entry in line.split("|")
)
"""City and its two-letter state or province."""

FIRST_NAMES: tuple[str, ...] = _words(
    """
    Aaron Abigail Adele Aisha Alan Alice Amara Amit Andrea Anita Arthur Astrid Beatrice Benjamin
    Bianca Björn Brenda Bruno Camille Carla Carlos Cecilia Chen Chloé Clara Colin Cyrus Daisy
    Daniel Daria David Deepa Diego Dina Edgar Elena Elias Emil Emma Erik Esther Ethan Eva Farah
    Felix Fiona Frank Freya Gabriel Gemma George Gita Grace Gustavo Hana Harold Hassan Hazel Helen
    Henry Ibrahim Ines Ingrid Irene Isaac Ivan Jacob Jamila Jane Jasper Joan Jonas José Joyce Julia
    Kai Karen Kenji Kofi Laila Lars Laura Leo Lila Lucas Luz Maeve Magnus Marcus Maria Maya Mei
    Miguel Mina Mohammed Nadia Naomi Nathan Nina Noah Nora Olga Oliver Omar Oscar Paloma Paul Pedro
    Petra Priya Quentin Rachel Rafael Ravi Renée Rita Robert Rosa Ruth Samir Sana Sarah Selma Simon
    Sofia Stella Sven Tamar Tara Theo Thomas Tomás Uma Ursula Vera Victor Viktoria Walter Wanda
    Xavier Yara Yasmin Yuki Yusuf Zara Zoë
    """
)

LAST_NAMES: tuple[str, ...] = _words(
    """
    Abbott Adeyemi Ahmed Allen Alvarez Andersson Baker Barnes Becker Bell Bennett Berg Bianchi
    Blake Brooks Brown Campbell Carter Castillo Chan Chaudhary Clark Cohen Cole Cooper Costa Cruz
    D'Angelo Dalton Davies Diaz Dubois Eaton Edwards Ellis Eriksen Evans Farrell Fernandez Fischer
    Fletcher Flores Foster Fraser Garcia Gibson Gómez Goldberg Gordon Graham Green Gupta Haddad
    Hall Hansen Harper Hayes Hernandez Hill Hoffman Hughes Hunt Ito Ivanov Jackson James Jensen
    Johansson Jones Joshi Kaplan Kaur Kelly Khan Kim King Klein Kowalski Kumar Larsen Lee Lewis
    Lindqvist Lopez Lynch MacLeod Malik Marino Martin Mbeki Mehta Meyer Mills Moore Morales Moreau
    Morgan Müller Murphy Nakamura Nelson Nguyen Novak Nuñez O'Brien O'Connor Okafor Olsen Ortiz
    Osman Owens Park Patel Perez Peterson Phillips Pinto Popov Price Quinn Ramirez Reed Reyes Rice
    Rivera Robinson Romano Rossi Russell Ryan Sanders Santos Sato Schmidt Schneider Scott Shah
    Silva Singh Smith Sørensen Stewart Suzuki Tanaka Taylor Thompson Torres Turner Vargas Vega
    Wagner Walker Walsh Wang Ward Watson Weber White Williams Wilson Wong Wood Wright Yamamoto
    Yilmaz Young Zhang Zhou Zimmermann
    """
)

MAIL_DOMAINS: tuple[str, ...] = (
    "example.com",
    "example.net",
    "example.org",
    "mail.example.com",
    "post.example.org",
)
"""Reserved names: no generated address can belong to anyone."""

VENUE_NAMES: tuple[str, ...] = (
    "Beacon",
    "Bluebird",
    "Capitol",
    "Crown",
    "Evergreen",
    "Harbor",
    "Horizon",
    "Liberty",
    "Majestic",
    "Meridian",
    "Northgate",
    "Orpheum",
    "Palisade",
    "Paramount",
    "Riverside",
    "Saint-Denis",
    "Starlight",
    "Summit",
    "Union",
    "Village",
)

VENUE_KINDS: tuple[tuple[str, int, int], ...] = (
    ("Stadium", 35_000, 90_000),
    ("Ballpark", 30_000, 55_000),
    ("Arena", 12_000, 22_000),
    ("Amphitheatre", 5_000, 20_000),
    ("Theatre", 0, 0),
    ("Opera House", 0, 0),
    ("Concert Hall", 0, 0),
)
"""Kind, and its least and greatest number of seats; 0 and 0 where it is not known."""

_TEAMS = _words("Bears Comets Falcons Foxes Giants Herons Lynx Otters Pilots Ravens Rockets Wolves")
_ENSEMBLES = "Philharmonic|Symphony Orchestra|Chamber Choir|String Quartet|Festival Chorus"
_COMPOSERS = "Bach|Beethoven|Brahms|Dvořák|Haydn|Mahler|Mozart|Schubert|Sibelius|Tchaikovsky"
_JAZZ = "Trio|Quartet|Big Band|Quintet|Sessions"

PROGRAMME: dict[int, tuple[str, ...]] = {
    **{
        catid: tuple(f"{team} at {home}" for team in _TEAMS for home in _words(homes))
        for catid, homes in {
            1: "Baltimore Boston Chicago Seattle",
            2: "Buffalo Detroit Toronto Winnipeg",
            3: "Dallas Denver Houston Miami",
            4: "Memphis Oakland Phoenix Portland",
            5: "Columbus Montréal Newark Vancouver",
        }.items()
    },
    6: (
        "A Lantern for Clara",
        "Anything but Quiet",
        "Avenue Nine",
        "Boardwalk",
        "Cabin Fever!",
        "Eleven O'Clock Number",
        "Gaslight Revue",
        "H.M.S. Pinafore",
        "Harvest Moon",
        "Iolanthe",
        "Miss Ferris Regrets",
        "Paper Moons",
        "Rain on Ninth Street",
        "Show Me the Harbor",
        "The Gondoliers",
        "The Mikado",
        "The Pirates of Penzance",
    ),
    7: (
        "A Doll's House",
        "A Midsummer Night's Dream",
        "An Ideal Husband",
        "Antigone",
        "As You Like It",
        "Candida",
        "Cyrano de Bergerac",
        "Hamlet",
        "Hedda Gabler",
        "King Lear",
        "Le Bourgeois gentilhomme",
        "Lysistrata",
        "Macbeth",
        "Miss Julie",
        "Othello",
        "Tartuffe",
        "The Cherry Orchard",
        "The Importance of Being Earnest",
        "The Seagull",
        "Three Sisters",
        "Twelfth Night",
        "Uncle Vanya",
    ),
    8: (
        "Aida",
        "Boris Godunov",
        "Carmen",
        "Così fan tutte",
        "Don Giovanni",
        "Eugene Onegin",
        "Faust",
        "Fidelio",
        "Götterdämmerung",
        "Hänsel und Gretel",
        "La bohème",
        "La traviata",
        "Le nozze di Figaro",
        "Lohengrin",
        "Macbeth",
        "Manon",
        "Rigoletto",
        "Rusalka",
        "The Magic Flute",
        "Tosca",
    ),
    9: (
        "Amber Static",
        "Brass Monsoon",
        "Cassette Weather",
        "Dial Tone Choir",
        "Electric Orchard",
        "Fifth Avenue Ghosts",
        "Glass Bicycle",
        "Half Past Neon",
        "Ida & the Satellites",
        "Junk Drawer",
        "Kite Season",
        "Lowland Radio",
        "Motel Postcards",
        "Night Ferry",
        "Ocean Elevator",
        "Paper Tigers Club",
        "Quiet Riot Act",
        "Rooftop Algebra",
        "Señor Tomorrow",
        "The Borrowed Umbrellas",
        "The Long Division",
        "Velvet Abacus",
        "Weekend Cartographers",
        "Zero Point Parade",
    ),
    10: tuple(
        f"{name} {band}"
        for name in ("Adele Moreau", "Carlos Vega", "Kofi Okafor", "Nina Walsh", "Yuki Tanaka")
        for band in _JAZZ.split("|")
    ),
    11: tuple(
        f"{ensemble}: {composer}"
        for composer in _COMPOSERS.split("|")
        for ensemble in _ENSEMBLES.split("|")
    ),
}
"""Performances, by catid."""
