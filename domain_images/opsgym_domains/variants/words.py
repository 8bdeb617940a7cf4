"""Words that variants put in the place of names.

Invariant: no word is in two lists of words, so that two kinds of names stay distinct after they were replaced.
"""

from __future__ import annotations

from itertools import product


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GIVEN_NAMES = _words(
    """
    Addison Adrian Ainsley Alex Alva Amari Andrea Angel Arden Ariel Armani Arrow Ashton Aubrey August Avery Bailey Beau
    Bellamy Bergen Blaise Bobbie Briar Brook Cameron Campbell Carey Carmen Carson Casey Channing Charlie Chris Cleo
    Corey Dakota Dallas Dana Dale Darian Dell Denver Devon Dominique Drew Eden Eliot Ellery Ellis Emerson Emery Ever
    Ezra Fallon Finley Florin Francis Frankie Gale Genesis Gray Hadley Harley Harper Haven Hayden Hollis Hunter Indigo
    Jackie Jamie Jayden Jean Jesse Jocelyn Joey Jordan Jules Justice Kai Kamari Keegan Kelly Kendall Kerry Kim Kirby
    Kit Kris Lake Lane Lee Lennon Lennox Leslie Linden Logan London Lou Lyle Mackenzie Marion Marlow Mattie
    Merritt Micah Mika Milan Monroe Morgan Murphy Nico Nikita Noel Ocean Parker Pat Payton Perry Phoenix Piper
    Quincy Quinn Rain Ramsey Reagan Reese Remy Ren Riley Ripley River Robin Rory Rowan Royal Rudy Rylan Sage Salem
    Sandy Sascha Sawyer Selby Shannon Shawn Shea Sidney Skye Sloan Spencer Sterling Stevie Storm Sunny Sutton
    Taylor Terry Toby Toni Torey Tracy Tristan Val Vanja Vesper Wallis Whitney Winter Wynn Yael Zephyr Zion
    """
)
"""Given names of any gender, so that the pronouns of a task stay right."""

_STEMS = _words(
    "Ald Ash Bart Birk Blak Brad Bram Brox Burn Chat Clif Cott Crom Dar Den Earn Elk Fair Farn Gads Gren Hal Harg Hax "
    "Hex Ing Kel Kirk Lang Lin Lox Mar Mel Mort New Oak Orm Pem Rad Rid Row Rush Sed Shel Stan Sud Thorn Tol Up Wal "
    "Wex Whit Win Wool Wrex Yar"
)
_ENDINGS = _words("bank beck bourne by combe cott croft dale don field ford gate ham hurst land ley man mere shaw wick")
FAMILY_NAMES = tuple(stem + ending for ending, stem in product(_ENDINGS, _STEMS))
"""Family names made of a stem and an ending."""

COMPANY_WORDS = _words(
    """
    Acorn Almond Anvil Aspen Aurora Bamboo Basalt Beacon Bison Bramble Cactus Canyon Cascade Cedar Cinder Citron Clover
    Cobalt Comet Condor Copper Cypress Dahlia Delta Dolphin Ember Equinox Falcon Fennel Garnet Gazelle Ginger Glacier
    Granite Hazel Heron Hickory Horizon Indus Ivory Jasper Juniper Kestrel Kingfisher Lantern Larch Lotus Lupine Lynx
    Magnolia Mallard Maple Marigold Meridian Mistral Monarch Mosaic Nectar Nimbus Nutmeg Obsidian Onyx Orbit Orchard
    Osprey Otter Palisade Papaya Pebble Pelican Pepper Petrel Pioneer Plover Poplar Prairie Prism Quartz Quill Raven
    Redwood Saffron Sequoia Solstice Sorrel Sparrow Spruce Starling Summit Sycamore Tamarind Teal Thistle Topaz Tundra
    Vanguard Verbena Vertex Walnut Willow Yarrow Zenith Zinnia
    """
)
"""Words for companies, of which the first word is replaced."""

STREET_WORDS = _words(
    "Almandin Belvoir Cantara Dorva Elmar Ferrin Galdor Hestra Iberon Jolan Kessel Lomara Mandor Norval Orsay Pelham "
    "Quedlin Rosmer Santal Tarvis Ulmar Vestra Wendel Yorvik Zellin Arbon Brelan Corvan Delmar Estrel Fontana"
)
"""Words for streets, of which the first distinctive word is replaced."""

SITE_WORDS = _words(
    "Ashgrove Birchwood Brackenfield Brookfield Claymoor Cloverhill Eastmere Elmgrove Fernhill Foxcote Glenside "
    "Hazelmere Heatherbank Highmoor Kingsmead Larkhill Limewood Longacre Maplegate Meadowbank Millbrook Northmoor "
    "Parkfield Pinehurst Queensgate Rosebank Southmead Stonegate Thornhill Valleyfield Westbrook Yewtree"
)
"""Words for sites that are not named after a company or a city, of which the first word is replaced."""

CITIES = {
    "Denmark": _words(
        "Aalborg Esbjerg Fredericia Herning Horsens Kolding Odense Randers Roskilde Silkeborg Vejle Viborg"
    ),
    "Fiji": _words("Labasa Lautoka Levuka Nadi Nausori Savusavu Sigatoka Tavua"),
    "France": _words("Amiens Angers Annecy Besancon Brest Limoges Metz Mulhouse Nimes Orleans Perpignan Reims Rouen"),
    "New Zealand": _words(
        "Ashburton Blenheim Dunedin Gisborne Hastings Invercargill Levin Napier Oamaru Rotorua Taupo Tauranga Timaru"
    ),
    "Sweden": _words(
        "Falun Gavle Halmstad Jonkoping Kalmar Karlstad Linkoping Malmo Norrkoping Sundsvall Umea Uppsala"
    ),
}
"""Cities by country; where a seed has other countries, its cities trade places."""

ZONES = {
    "America/Toronto": ("Toronto", _words("Detroit Nassau")),
    "Asia/Kolkata": ("Pune", _words("Indore Jaipur Nagpur Surat")),
    "Asia/Seoul": ("Seoul", _words("Dili Tokyo")),
    "Australia/Sydney": ("Sydney", _words("Hobart Melbourne")),
    "Europe/Lisbon": ("Lisbon", _words("Dublin Guernsey Jersey")),
    "Europe/London": ("London", _words("Dublin Guernsey Jersey")),
    "Europe/Oslo": ("Oslo", _words("Brussels Copenhagen Stockholm Vienna")),
    "Europe/Rome": ("Rome", _words("Berlin Madrid Prague Zurich")),
}
"""The city of a time zone, and cities with the same clock. Where the zone is named after its city, the zone of each of
these is as well, in the same area. Other zones (Adelaide, Auckland, Santiago, Vancouver) have no such neighbour that
kept the same clock in all years of the variants, so their cities stay."""

TITLE_WORDS = _words(
    "Borealis Cirrus Dynamo Fathom Granit Helix Isobar Keystone Lodestar Monolith Obelisk Parallax Quasar Rampart "
    "Umbra Vortex Bastion Corona Fjord Hawser Inlet Jetstream Kelp Lattice Meander Nebula Ostrava Pinnacle Quarto Rondo"
)
"""Words for rooms and projects."""

AMBIGUOUS = frozenset(
    _words(
        "amber art bell bill brook brooks chase dale dawn don faith field frost gran grace guy hall heath hill hope "
        "hunt iris ivy jack jade joy king lake lane lee long love mark max may miles moss noble page park pat petit "
        "price rain ray reed rich river rob rock rose rouge ruby rune sandy sky stone storm strand sue summer tan "
        "viola wade ward way west will wing winter wood woods young"
    )
)
"""Names that also mean something in lower case; in a text without capitals they are names only beside another name."""

FRAMES = (
    "{}",
    "Hello,\n\n{}\n\nThank you.",
    "{}\n\nThanks in advance.",
    "Hi there,\n\n{}\n\nBest regards",
    "Good day, here is something for you.\n\n{}",
    "{}\n\nMany thanks!",
    "Could you take care of this, please?\n\n{}",
)
"""Openings and closings of a prompt that states no further wordings of its own; `{}` is the prompt."""
