"""The schemas of messages in jars, as one JSON object: file name -> text. usage: schemas.py JAR..."""
import json
import sys
import zipfile

PREFIX = "common/message/"

schemas = {}
for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as jar:
        for name in jar.namelist():
            if name.startswith(PREFIX) and name.endswith(".json"):
                schemas[name[len(PREFIX):]] = jar.read(name).decode()
if not schemas:
    sys.exit("no schema in " + " ".join(sys.argv[1:]))
json.dump(schemas, sys.stdout)
