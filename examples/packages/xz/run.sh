#!/bin/sh
exec xz --compress --stdout input > output
