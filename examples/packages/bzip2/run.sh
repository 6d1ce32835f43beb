#!/bin/sh
exec bzip2 --compress --stdout input > output
