"""stub"""
def document(): return {}
