import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
name = parser.parse_args().name
print(f"Hello, {name}!")
print(f"This is job {os.environ['AZUREML_RUN_ID']}.")
