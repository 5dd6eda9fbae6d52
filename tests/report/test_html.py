import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.report.html import Html, element, join

printable = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]))


@settings(max_examples=60)
@given(printable, printable)
def test_text_and_attributes_come_back_as_they_were(text, value):
    read = ET.fromstring(str(element("p", text, title=value)))
    assert (read.text or "") == text
    assert read.get("title") == value


def test_markup_stays_markup_and_text_becomes_text():
    assert str(join([Html("<b>x</b>"), "<b>"])) == "<b>x</b>&lt;b&gt;"


def test_an_attribute_without_value_is_left_out():
    assert str(element("p", form=None, x=1.0)) == '<p x="1"></p>'
