"""Causal analysis by intervention: does an effect go when what is to carry it is held fixed?"""
