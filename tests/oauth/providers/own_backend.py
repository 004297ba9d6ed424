"""A back end of social-auth-core, as one of a package would be."""

from social_core.backends.oauth import BaseOAuth2


class MusicOAuth2(BaseOAuth2):
    name = "music"
    AUTHORIZATION_URL = "https://music.example.com/authorize?theme=dark"
    ACCESS_TOKEN_URL = "https://music.example.com/token"
    DEFAULT_SCOPE = ["read", "mail"]
    SCOPE_SEPARATOR = ","
    ID_KEY = "uid"

    def get_user_details(self, response):
        return {"email": response["mail"], "fullname": response.get("name"), "first_name": None}

    def user_data(self, access_token, *args, **kwargs):
        return self.get_json(
            f"{self.setting('API')}/user",
            headers={"Authorization": f"OAuth {access_token}"},
            params={"fields": "uid,mail"},
        )
