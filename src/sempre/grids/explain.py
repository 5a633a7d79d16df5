"""stub"""


def explain_every(*a):
    return ""


def explain_cron(*a):
    return ""


def cron_notes(*a):
    return ()
