"""Serializers of extra fields, harmless ones first."""

from rest_framework import serializers

from authservice.kernel.hooks import Refused
from tests.extending.people.models import Note, Profile, User


class Badge(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ("full_name", "born", "badge", "friends")


class Broken(serializers.Serializer):
    """Has stored something when it fails."""

    full_name = serializers.CharField()
    born = serializers.DateField()
    how = serializers.CharField()

    def update(self, user, validated_data):
        Profile.objects.create(user=user, city="Rome")
        user.full_name = "Changed"
        user.save()
        if validated_data["how"] == "refuse":
            raise Refused("NO_SUCH_CITY", "No.")
        if validated_data["how"] == "crash":
            raise LookupError("a fault of the serializer")
        raise serializers.ValidationError({"how": ["Not like this."]})


class Elevating(serializers.ModelSerializer):
    """A serializer whose `validate` adds a right."""

    class Meta:
        model = User
        fields = ("full_name", "born")

    def validate(self, attrs):
        return {**attrs, "is_staff": True}


class Raising(serializers.Serializer):
    """Has a fault that no request causes."""

    full_name = serializers.CharField()
    born = serializers.DateField()

    def validate(self, attrs):
        raise LookupError("a fault of the serializer")

    def update(self, user, validated_data):
        return user


class Described(serializers.Serializer):
    about = serializers.JSONField()

    def update(self, user, validated_data):
        return user


class Address(serializers.Serializer):
    street = serializers.CharField(max_length=5)


class Nested(serializers.Serializer):
    address = Address()

    def update(self, user, validated_data):
        return user


class All(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = "__all__"


class Excluding(serializers.ModelSerializer):
    class Meta:
        model = User
        exclude = ("password",)


class OfNotes(serializers.ModelSerializer):
    class Meta:
        model = Note
        fields = ("user",)


class Misspelled(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ("ful_name",)


class Unstored(serializers.Serializer):
    city = serializers.CharField()


def with_field(name, source=None):
    """A serializer with one field, and with `update`."""
    field = serializers.CharField(source=None if source == name else source)
    body = {name: field, "update": lambda self, user, values: user}
    return type("Hostile", (serializers.Serializer,), body)
