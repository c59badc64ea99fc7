#!/usr/bin/env python3
"""Validates result documents against docs/result.schema.json.

    validate_result.py SCHEMA FILE...            every file must be valid
    validate_result.py --mutants SCHEMA FILE     every document made from FILE by removing a required
                                                 member, or by breaking its type, must be invalid
"""

import copy
import json
import sys

import jsonschema


def paths_of(errors):
    return "; ".join(f"{e.json_path}: {e.message[:200]}" for e in errors)


def mutants(document):
    """Yields (what was done, broken document)."""
    places = [
        (),
        ("plan",),
        ("setup",),
        ("stacks", 0),
        ("arms", 0),
        ("arms", 1, "ratio"),
        ("arms", 1, "samples", 0),
        ("arms", 1, "samples", 0, "evidence"),
        ("arms", 1, "samples", 0, "slices", 0),
        ("checks", 0),
        ("campaign",),
    ]
    optional = {"calibration", "file", "workload", "levers", "control", "rate_ratio", "client_us"}
    optional |= {"signature", "alpn", "verified", "address", "server_name", "verification", "client", "chain", "tickets", "bytes", "time_us"}
    # What is repeated adds time, not cases.
    document["arms"] = document["arms"][:2]
    for arm in document["arms"]:
        del arm["samples"][1:]
    for place in places:
        target = document
        for step in place:
            target = target[step]
        for name in target:
            if name in optional:
                continue
            for action in ("removed", "broken"):
                broken = copy.deepcopy(document)
                holder = broken
                for step in place:
                    holder = holder[step]
                if action == "removed":
                    del holder[name]
                else:
                    holder[name] = [["not of any type"]]
                yield f"{'.'.join(map(str, place))}.{name} {action}", broken


def main(arguments):
    want_invalid = arguments[:1] == ["--mutants"]
    schema_path, *files = arguments[1:] if want_invalid else arguments
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = tried = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        cases = mutants(document) if want_invalid else [("", document)]
        for what, case in cases:
            tried += 1
            errors = list(validator.iter_errors(case))
            if bool(errors) != want_invalid:
                failed += 1
                print(f"{path} {what}: {paths_of(errors) or 'valid, must not be'}")
    print(f"{tried} documents, {failed} wrong")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
