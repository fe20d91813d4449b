"""What the API shows: one file of JSON shapes per room, and the functions that fill them. Ids are strings.

Nothing here decides anything or reads a database, save for `post_presenter`, which loads the people in a page of posts.
"""
