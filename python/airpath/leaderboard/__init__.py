"""Leaderboards: entries that are scored in fixed cases, with intervals over paired repetitions."""

from airpath.leaderboard.board import Board
from airpath.leaderboard.running import score
from airpath.leaderboard.scores import Scores
from airpath.leaderboard.standings import Standing, standings

__all__ = ["Board", "Scores", "Standing", "score", "standings"]
