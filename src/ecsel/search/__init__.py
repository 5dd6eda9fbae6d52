"""One search for equations that people can read: dictionary, screening, exchange path, size by folds, digits.

A loss is an argument, so classes and numbers share it; `ecsel.search.search.search` is where it begins.
"""
