"""The schemas of messages in jars, as one JSON object: file name -> text. usage: schemas.py JAR..."""
import json
import sys
import zipfile

FOLDERS = ("common/message/", "common/metadata/")

schemas = {}
for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as jar:
        for name in jar.namelist():
            if name.startswith(FOLDERS) and name.endswith(".json"):
                schemas[name.rsplit("/", 1)[1]] = jar.read(name).decode()
if not schemas:
    sys.exit("no schema in " + " ".join(sys.argv[1:]))
json.dump(schemas, sys.stdout)
